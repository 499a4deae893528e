#!/usr/bin/env bash
# A 16-bit picture in the other byte order is noise once it has been resized.
#
# Pillow 13.0.0 (11.3.0 as well): a gray 16-bit TIFF in Motorola's order, or an array of ">u2", is an image of mode
# I;16B. Its pixels are right, and so are convert("I") and resize by NEAREST. With any other filter, also the
# default one, resize weighs the numbers that their exchanged bytes would be: a smooth ramp from 1000 to 1819
# becomes noise from 1015 to 65307 where the same picture in little-endian order, mode I;16, gives 1007 to 1812.
# No error says so (10.4.0 refused those filters, and its default was NEAREST). ImageOps.fit is the same. A flat picture
# stays what it was, so that a test with one passes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 pillow==13.0.0 tifffile==2026.3.3
venv/bin/python - <<'PYTHON'
import numpy as np
import tifffile
from PIL import Image, ImageOps

ramp = np.add.outer(3 * np.arange(64), 10 * np.arange(64)).astype(np.uint16) + np.uint16(1000)


def opened(pixels, order):
    tifffile.imwrite("a.tif", pixels, byteorder=order, photometric="minisblack")
    with Image.open("a.tif") as image:
        image.load()
    assert np.array_equal(np.array(image), pixels)
    assert image.mode == {"<": "I;16", ">": "I;16B"}[order]
    return image


def difference(name, change, pixels=ramp):
    native, other = (np.array(change(opened(pixels, order))).astype(int) for order in "<>")
    print(f"{name}: {native.min()} to {native.max()} little-endian, {other.min()} to {other.max()} big-endian")
    return np.abs(native - other).max()


half = (32, 32)
assert difference("nearest", lambda image: image.resize(half, Image.Resampling.NEAREST)) == 0
assert difference("default", lambda image: image.resize(half)) > 60000
for name in ("BOX", "BILINEAR", "HAMMING", "BICUBIC", "LANCZOS"):
    assert difference(name, lambda image: image.resize(half, Image.Resampling[name])) > 30000
assert difference("fit", lambda image: ImageOps.fit(image, half)) > 60000
assert difference("flat", lambda image: image.resize(half), np.full_like(ramp, 1000)) == 0
assert difference("by way of I", lambda image: image.convert("I").resize(half)) == 0
means = np.array(opened(ramp, "<").resize(half, Image.Resampling.BOX)).astype(float)
assert np.abs(means - ramp.reshape(32, 2, 32, 2).mean((1, 3))).max() <= 0.5
PYTHON
