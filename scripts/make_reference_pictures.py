#!/usr/bin/env python3
"""Makes the pictures of docs/operators.md: each operator's example, before and after.

    make_reference_pictures.py IMPIPE FOLDER [--only NAME]... [--check]

The program runs each example on one made scene. A result without a white is shown through mat2gray,
a measurement as the program prints it, or as bars. With --check nothing is written: it says which
operator has no picture, and which picture no operator.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from make_samples import photograph, still_life, street, to_integer

WIDTH, HEIGHT, GAP = 160, 120, 6  # pixels
# Where files are that examples name.
DATA = os.path.join(os.path.dirname(__file__), "..", "tests", "data", "colour")


def impipe(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True)


def shown(path):
    """A result as 8-bit RGB of the panel's size; small ones are enlarged pixel by pixel."""
    with Image.open(path) as picture:
        if picture.mode.startswith("I"):
            codes = np.asarray(picture).astype(np.float64) / 257
            picture = Image.fromarray((codes + 0.5).astype(np.uint8))
        picture = picture.convert("RGB")
    times = min(WIDTH // picture.width, HEIGHT // picture.height)
    if times >= 2:
        return picture.resize((picture.width * times, picture.height * times), Image.NEAREST)
    picture.thumbnail((WIDTH, HEIGHT), Image.LANCZOS)
    return picture


def printed(text):
    """The lines of a measurement, name and value, as a panel; the first ones of many."""
    header, values = [line.split("\t") for line in text.splitlines()[:2]]
    lines = [f"{name} {value}" for name, value in zip(header, values) if name != "file"]
    panel = Image.new("RGB", (WIDTH, HEIGHT), "white")
    draw, font = ImageDraw.Draw(panel), ImageFont.load_default()
    room = (HEIGHT - 12) // 12
    if len(lines) > room:
        lines = lines[:room - 1] + [f"... {len(lines) - room + 1} more"]
    for i, line in enumerate(lines):
        draw.text((8, 6 + 12 * i), line, fill="black", font=font)
    return panel


def bars(path):
    """A measurement that is only saved: counts as bars, a table as a picture of its logarithms."""
    values = np.load(path).astype(np.float64)
    if min(values.shape) > 1 and values.ndim == 2:
        table = np.log1p(values)
        picture = Image.fromarray((255 * table / max(table.max(), 1)).astype(np.uint8))
        picture.thumbnail((HEIGHT, HEIGHT), Image.LANCZOS)
        return picture.convert("RGB")
    counts = values.reshape(-1)
    panel = np.full((HEIGHT, WIDTH, 3), 255, np.uint8)
    for x in range(WIDTH):
        count = counts[x * len(counts) // WIDTH]
        panel[HEIGHT - round(count / max(counts.max(), 1) * (HEIGHT - 8)):, x] = (70, 90, 120)
    return Image.fromarray(panel)


def side_by_side(panels):
    width = sum(p.width for p in panels) + GAP * (len(panels) - 1)
    sheet = Image.new("RGB", (width, max(p.height for p in panels)), "white")
    left = 0
    for panel in panels:
        sheet.paste(panel, (left, (sheet.height - panel.height) // 2))
        left += panel.width + GAP
    return sheet.quantize(64, dither=Image.Dither.NONE)


class Scenes:
    """The picture that examples run on, and what they want beside it."""

    def __init__(self, folder):
        self.folder = folder
        self.picture = self.write("scene.png", photograph(still_life, 3, WIDTH, HEIGHT))
        self.other = self.write("other.png", photograph(street, 5, WIDTH, HEIGHT))
        self.curve = os.path.join(folder, "curve.png")
        codes = 255 * (0.5 - 0.5 * np.cos(np.linspace(0, 3 * np.pi, 256)))
        Image.fromarray(codes.astype(np.uint8)[None, :]).save(self.curve)

    def write(self, name, scene):
        path = os.path.join(self.folder, name)
        Image.fromarray(to_integer(scene, 255)).save(path)
        return path

    def operands(self, pipeline):
        kept = set(re.findall(r"\bas (\w+)", pipeline))
        for name in sorted(set(re.findall(r"(?:^|\s):([a-z]\w*)", pipeline)) - kept):
            yield "--with"
            yield f"{name}={self.curve if name == 'curve' else self.other}"


def run_example(program, op, scenes, folder):
    """The panels of an operator, or the reason why there are none."""
    example = re.sub(r"@(?=\w)", f"@{DATA}/", op["example"])
    source = example.split()[0] == op["name"] and op["source"] or example.split()[0] in SOURCES
    inputs = [] if source else [scenes.picture]
    before = [] if source else [shown(scenes.picture)]
    wanted = list(scenes.operands(example))
    before += [shown(name.split("=", 1)[1]) for name in wanted[1::2] if "curve" not in name]
    reason = ""
    for pipeline in (example, example + " | mat2gray"):
        result = os.path.join(folder, op["name"] + ".png")
        done = impipe(program, "-q", pipeline, *inputs, *wanted, "-o", result, "-d", "uint8")
        if done.returncode == 0 and os.path.exists(result):
            return before + [shown(result)], ""
        reason = reason or done.stderr
        if "mat2gray" not in reason:
            break
    done = impipe(program, "-q", example, *inputs, *wanted)
    columns = done.stdout.split("\n", 1)[0].split("\t")
    if done.returncode == 0 and 1 < len(columns) <= 40:
        return before + [printed(done.stdout)], ""
    result = os.path.join(folder, op["name"] + ".npy")
    done = impipe(program, "-q", example, *inputs, *wanted, "-o", result)
    if done.returncode == 0 and os.path.exists(result):
        return before + [bars(result)], ""
    return [], reason + done.stderr


SOURCES = set()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("impipe")
    parser.add_argument("folder")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    operators = json.loads(impipe(options.impipe, "ops", "--json").stdout)
    SOURCES.update(op["name"] for op in operators if op["source"])
    if options.check:
        there = {os.path.splitext(name)[0] for name in os.listdir(options.folder)}
        names = {op["name"] for op in operators}
        for name in sorted(names ^ there):
            print(f"{options.folder}: {name}: " + ("no picture; run scripts/make_reference.sh"
                                                    if name in names else "no such operator"))
        return 1 if names != there else 0

    os.makedirs(options.folder, exist_ok=True)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        scenes = Scenes(folder)
        for op in operators:
            if options.only and op["name"] not in options.only:
                continue
            panels, reason = run_example(options.impipe, op, scenes, folder)
            if not panels:
                print(f"{op['name']}: {op['example']}: no result: {reason}", file=sys.stderr)
                failed = 1
                continue
            side_by_side(panels).save(os.path.join(options.folder, op["name"] + ".png"),
                                      optimize=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
