#!/usr/bin/env python3
"""Made pages of text-like lines: by how much deskewangle misses the angle they were turned by, and
its processor time beside ImageMagick's -deskew.

    scripts/skews.py [--impipe PATH] [--pages 1000] [--timed 20] [--seed 1]

Needs numpy and Pillow, and `convert` for the comparison. Prints the median and the 95th percentile
of |found - made| in degrees, and the ratio of the processor times of `impipe deskew` and
`convert -deskew 40%` over the same files, each file read and written by both.
"""
import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

SIZES = [((1240, 1754), 0.6), ((1654, 2339), 0.3), ((2480, 3508), 0.1)]


def letter(random, height):
    """Stems and bars, as letters have."""
    width = max(3, int(height * random.uniform(0.35, 0.75)))
    stroke = max(1, height // 9)
    out = np.zeros((height, width), bool)
    for _ in range(random.integers(1, 3)):
        x = random.integers(0, width - stroke + 1)
        out[:, x:x + stroke] = True
    for _ in range(random.integers(1, 3)):
        y = random.choice([0, height // 2, height - stroke])
        out[y:y + stroke] = True
    if random.random() < 0.3:
        out[:height // 3] = False
    return out


def page(random, width, height):
    """An upright page: paragraphs of ragged lines."""
    ink = np.zeros((height, width), bool)
    tall = width // random.integers(70, 110)  # of a small letter
    margin = width // 10
    y = margin
    while y < height - margin - 2 * tall:
        x = margin + (3 * tall if random.random() < 0.2 else 0)
        end = width - margin
        if random.random() < 0.15:
            end = margin + int((width - 2 * margin) * random.uniform(0.2, 0.9))
        while x < end - tall:
            for _ in range(random.integers(1, 11)):
                one = letter(random, tall)
                up = int(tall * 0.45) if random.random() < 0.25 else 0
                below = int(tall * 0.3) if random.random() < 0.1 else 0
                if x + one.shape[1] >= end:
                    break
                ink[y:y + tall, x:x + one.shape[1]] |= one
                if up:
                    ink[y - up:y, x:x + max(1, tall // 9)] = True
                if below:
                    ink[y + tall:y + tall + below, x:x + max(1, tall // 9)] = True
                x += one.shape[1] + max(1, tall // 6)
            x += int(tall * 0.6)
        y += int(tall * (2.2 if random.random() > 0.1 else 3.5))
    return Image.fromarray(np.where(ink, 30, 235).astype(np.uint8))


def skewed(random, upright, angle):
    """Turned counter-clockwise, with a scanner's noise."""
    turned = upright.rotate(angle, Image.BICUBIC, fillcolor=235)
    pixels = np.asarray(turned, np.float32)
    noise = random.normal(0, 8, pixels.shape).astype(np.float32)
    return Image.fromarray(np.clip(pixels + noise, 0, 255).astype(np.uint8))


def processor_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"{command[0]}: {run.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, run.stdout


def write_pages(random, folder, count, uprights):
    """Returns the angles by name."""
    angles = {}
    for i in range(count):
        size = random.choice(len(SIZES), p=[part for _, part in SIZES])
        known = uprights.setdefault(size, [])
        if len(known) < 5:
            known.append(page(random, *SIZES[size][0]))
        angle = random.uniform(-14, 14)
        name = f"page{i:03}.pgm"
        skewed(random, known[random.integers(len(known))], angle).save(folder / name)
        angles[name] = angle
    return angles


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--impipe", default="build/release/src/cli/impipe")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--timed", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    random, uprights, misses = np.random.default_rng(asked.seed), {}, []
    times = None
    while len(misses) < asked.pages:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "in").mkdir()
            angles = write_pages(random, folder / "in", min(50, asked.pages - len(misses)), uprights)
            _, table = processor_seconds([asked.impipe, "deskewangle", str(folder / "in")])
            rows = [line.split("\t") for line in table.splitlines()[1:]]
            found = {pathlib.Path(row[0]).name: float(row[-1]) for row in rows}
            misses += [abs(found[name] + angle) for name, angle in angles.items()]
            if times is None and asked.timed and shutil.which("convert"):
                times = timed(asked, folder, sorted(angles)[:asked.timed])
    print(f"{len(misses)} pages: |found - made| median {np.median(misses):.4f}, 95 % within "
          f"{np.percentile(misses, 95):.4f}, at most {max(misses):.4f} degrees")
    if times:
        print(f"{asked.timed} pages, processor time: impipe deskew {times[0]:.2f} s, convert "
              f"-deskew 40% {times[1]:.2f} s: {times[1] / times[0]:.1f} x")


def timed(asked, folder, names):
    files = [str(folder / "in" / name) for name in names]
    (folder / "out").mkdir()
    ours, _ = processor_seconds([asked.impipe, "deskew fill=235", *files, "-o", str(folder / "out")])
    theirs = sum(processor_seconds(["convert", "-background", "gray92", "-deskew", "40%", file,
                                    str(folder / "out" / os.path.basename(file))])[0]
                 for file in files)
    return ours, theirs


if __name__ == "__main__":
    main()
