#!/usr/bin/env python3
"""Reads a folder of pictures with impipe, Pillow and djpeg, and tells where they differ.

    scripts/campaign/compare_readers.py FOLDER [--impipe PROGRAM] [--opencv]

For the test images of Pillow's source package (Tests/images). Every JPEG, PNG and WebP that Pillow
reads must be read alike (a JPEG: as `djpeg -dct int` reads it) or be refused, with the reason.
--opencv compares with `impipe --codec opencv` instead of Pillow and djpeg, TIFFs too.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from PIL import Image, ImageOps

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def by_pillow(path):
    """The pixels as they are seen, and the reason when there are none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path) as picture:
                if picture.format not in ("JPEG", "MPO", "PNG", "WEBP"):
                    return None, f"it is {picture.format}"
                if getattr(picture, "n_frames", 1) > 1 and picture.format != "MPO":
                    picture.seek(0)
                picture.load()
                turned = ImageOps.exif_transpose(picture)
                alpha = "A" in turned.getbands() or "transparency" in picture.info
                if turned.mode.startswith("I") or turned.mode == "F":
                    return np.asarray(turned).astype(np.uint16), ""
                grey = turned.mode in ("1", "L", "LA")
                mode = ("LA" if alpha else "L") if grey else ("RGBA" if alpha else "RGB")
                return np.asarray(turned.convert(mode)), ""
    except Exception as error:  # whatever Pillow throws is its refusal
        return None, f"{type(error).__name__}: {error}"


def by_djpeg(path, folder):
    out = os.path.join(folder, "djpeg.pnm")
    done = subprocess.run(["djpeg", "-dct", "int", "-pnm", "-outfile", out, path],
                          capture_output=True, text=True)
    if done.returncode not in (0, 2):  # 2: warnings
        return None, done.stderr.strip()
    with Image.open(path) as picture, Image.open(out) as plain:
        orientation = picture.getexif().get(274, 1)
        exif = plain.getexif()
        exif[274] = orientation
        return np.asarray(ImageOps.exif_transpose(plain)), done.stderr.strip()


def by_impipe(program, path, folder, *flags):
    out = os.path.join(folder, "out.npy")
    if os.path.exists(out):
        os.remove(out)
    done = subprocess.run([program, "fliplr | fliplr", path, "-o", out, *flags],
                          capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.startswith("impipe: ")]
        return None, (said or [f"exit {done.returncode}"])[0].replace(path, os.path.basename(path))
    pixels = np.load(out)
    return (pixels * 255 if pixels.dtype == bool else pixels), ""


def same(ours, theirs):
    if ours.dtype == np.uint16 and theirs.dtype == np.uint8:
        ours = (ours >> 8).astype(np.uint8)
    ours, theirs = np.squeeze(ours), np.squeeze(theirs)
    if ours.ndim == 3 and theirs.ndim == 2 and ours.shape[2] >= 3:
        theirs = np.repeat(theirs[..., None], 3, axis=2)
    if ours.ndim == 2 and theirs.ndim == 3:
        ours = np.repeat(ours[..., None], theirs.shape[2], axis=2)
    if ours.ndim == 3 and theirs.ndim == 3 and ours.shape[2] + 1 == theirs.shape[2]:
        return False, "alpha is missing"
    if ours.shape != theirs.shape:
        return False, f"{ours.shape} for {theirs.shape}"
    difference = np.abs(ours.astype(int) - theirs.astype(int))
    return not difference.any(), f"differs by up to {difference.max(initial=0)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--impipe", default=os.path.join(ROOT, "build/ci/src/cli/impipe"))
    parser.add_argument("--opencv", action="store_true")
    options = parser.parse_args()
    counts = {"equal": 0, "refused by both": 0, "refused by impipe": 0, "different": 0,
              "read by impipe alone": 0}
    with tempfile.TemporaryDirectory() as folder:
        paths = sorted(os.path.join(root, name) for root, _, names in os.walk(options.folder)
                       for name in names
                       if name.lower().endswith((".jpg", ".jpeg", ".png", ".webp", ".jfif") +
                                                ((".tif", ".tiff") if options.opencv else ())))
        for path in paths:
            theirs, why_not = (
                by_impipe(options.impipe, path, folder, "--codec", "opencv") if options.opencv
                else by_pillow(path))
            if theirs is None and why_not.startswith("it is "):
                continue
            ours, reason = by_impipe(options.impipe, path, folder)
            name = os.path.relpath(path, options.folder)
            if theirs is None or ours is None:
                kind = ("refused by both" if theirs is None and ours is None else
                        "read by impipe alone" if theirs is None else "refused by impipe")
                counts[kind] += 1
                print(f"{kind}: {name}: {reason or why_not}")
                continue
            with open(path, "rb") as file:
                is_jpeg = file.read(2) == b"\xff\xd8"
            is_cmyk = is_jpeg and Image.open(path).mode == "CMYK"
            if is_jpeg and not is_cmyk and not options.opencv:
                theirs, why_not = by_djpeg(path, folder)
            if theirs is None:
                counts["different"] += 1
                print(f"different: {name}: djpeg: {why_not}")
                continue
            equal, how = same(ours, theirs)
            counts["equal" if equal else "different"] += 1
            if not equal:
                print(f"different: {name}{' (CMYK)' if is_cmyk else ''}: {how}")
    print(", ".join(f"{n} {kind}" for kind, n in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
