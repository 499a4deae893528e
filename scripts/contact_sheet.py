#!/usr/bin/env python3
"""Puts pictures and their results on one sheet, each picture above its result.

    contact_sheet.py BEFORE_DIR AFTER_DIR SHEET.png [--columns N] [--width PIXELS] [--most N]

A result belongs to the picture with its name, whatever the extension.
"""
import argparse
import os
import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFont

MARGIN, CAPTION = 10, 16  # pixels
KNOWN = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp", ".pgm", ".ppm", ".pnm", ".pbm"}


def pictures(folder):
    """{path without extension: path}, in order; below the folder too."""
    found = {}
    for root, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            stem, extension = os.path.splitext(os.path.join(root, name))
            if extension.lower() in KNOWN:
                found[os.path.relpath(stem, folder)] = stem + extension
    return found


def thumbnail(path, width, height):
    """8-bit RGB that fits into width x height; 16-bit gray is shown by its high byte."""
    with Image.open(path) as picture:
        if picture.mode.startswith("I"):
            samples = np.asarray(picture).astype(np.float64) / 257
            picture = Image.fromarray(np.clip(samples + 0.5, 0, 255).astype(np.uint8))
        picture = picture.convert("RGB")
        picture.thumbnail((width, height), Image.LANCZOS)
        return picture


def sheet(pairs, columns, width):
    """[(caption, before, after)] -> one picture."""
    height = width * 3 // 4
    cell_width, cell_height = width + MARGIN, 2 * height + CAPTION + 2 * MARGIN
    rows = -(-len(pairs) // columns)
    size = (columns * cell_width + MARGIN, rows * cell_height + MARGIN)
    canvas = Image.new("RGB", size, (24, 24, 26))
    draw, font = ImageDraw.Draw(canvas), ImageFont.load_default()
    for i, (caption, before, after) in enumerate(pairs):
        left = MARGIN + i % columns * cell_width
        top = MARGIN + i // columns * cell_height
        draw.text((left, top), caption, fill=(200, 200, 200), font=font)
        for row, path in enumerate((before, after)):
            small = thumbnail(path, width, height)
            place = (left + (width - small.width) // 2,
                     top + CAPTION + row * (height + MARGIN // 2) + (height - small.height) // 2)
            canvas.paste(small, place)
    return canvas


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("sheet")
    parser.add_argument("--columns", type=int, default=5)
    parser.add_argument("--width", type=int, default=240, help="of one thumbnail, in pixels")
    parser.add_argument("--most", type=int, default=40, help="how many pairs at most")
    options = parser.parse_args()

    results = pictures(options.after)
    pairs = [(os.path.basename(path), path, results[stem])
             for stem, path in pictures(options.before).items() if stem in results]
    if not pairs:
        print(f"contact_sheet: {options.after} has no result for a picture of {options.before}",
              file=sys.stderr)
        return 1
    pairs = pairs[:options.most]
    sheet(pairs, min(options.columns, len(pairs)), options.width).save(options.sheet, optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
