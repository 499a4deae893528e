#!/usr/bin/env bash
# A gray Sun raster image is read as black, unless colours are asked for.
#
# OpenCV 4.12.0 (opencv-python-headless 4.12.0.88): imread of a Sun raster of 8 bits without a colour map, as
# most programs write gray ones, gives zeros with IMREAD_GRAYSCALE and with IMREAD_UNCHANGED, and no error:
# without a map the table of grays that it looks pixels up in is never filled. With IMREAD_COLOR the same
# file is right, in three equal channels. One bit a pixel likewise, where a one, which is black in this format,
# becomes white. With a colour map of grays the image is right in all three.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.2.6 opencv-python-headless==4.12.0.88 pillow==12.0.0
venv/bin/python - <<'PYTHON'
import struct

import cv2
import numpy as np
from PIL import Image


def write(name, bits, width, height, data, colours=b""):
    head = struct.pack(">8I", 0x59A66A95, width, height, bits, len(data), 1,
                       1 if colours else 0, len(colours))
    with open(name, "wb") as file:
        file.write(head + colours + data)


def read(name):
    for flag in ("IMREAD_UNCHANGED", "IMREAD_GRAYSCALE", "IMREAD_COLOR"):
        yield flag, cv2.imread(name, getattr(cv2, flag))


ramp = np.arange(64, dtype=np.uint8).reshape(8, 8) * 4
write("gray.ras", 8, 8, 8, ramp.tobytes())
write("map.ras", 8, 8, 8, ramp.tobytes(), bytes(range(256)) * 3)
write("bits.ras", 1, 16, 2, b"\xff\x00\x00\xff")
assert np.array_equal(np.array(Image.open("gray.ras")), ramp)
for flag, pixels in read("gray.ras"):
    print("gray", flag, "mean", pixels.mean(), "where Pillow's is", ramp.mean())
    assert np.array_equal(pixels, np.dstack([ramp] * 3)) if flag == "IMREAD_COLOR" else not pixels.any()
for flag, pixels in read("map.ras"):
    assert np.array_equal(pixels if pixels.ndim == 2 else pixels[..., 0], ramp)
assert not np.array(Image.open("bits.ras"))[0, :8].any(), "ones are black"
for flag, pixels in read("bits.ras"):
    print("bits", flag, pixels.reshape(2, 16, -1)[0, :, 0])
    assert (pixels[0, :8] == 255).all() if flag == "IMREAD_COLOR" else not pixels.any()
PYTHON
