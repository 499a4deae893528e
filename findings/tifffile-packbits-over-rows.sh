#!/usr/bin/env bash
# PackBits of tifffile becomes another picture, or none, in readers that go row by row.
#
# TIFF 6.0 (section 9) packs each row by itself: no run goes on into the next row. tifffile 2026.3.3 with
# imagecodecs 2026.3.6 packs a strip as one piece, so runs do go on. What reads a strip as one piece has the right
# pixels (tifffile itself, Pillow 13.0.0, OpenCV 5.0.0.93). What reads it row by row does not: of 60 rows of 100 pixels of
# one bit in one strip, a disc under a bar, FFmpeg 9.0.2 (imageio-ffmpeg 0.8.1) makes a picture with 1,245 other pixels of
# 6,000 and exits with 0, having printed one line; OpenImageIO 3.2.2.0 refuses the file, for want of data for row 47.
# With one row a strip all of them read what was written.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 tifffile==2026.3.3 imagecodecs==2026.3.6 pillow==13.0.0 \
  opencv-python-headless==5.0.0.93 OpenImageIO==3.2.2.0 imageio-ffmpeg==0.8.1
venv/bin/python - <<'PYTHON'
import subprocess

import cv2
import imageio_ffmpeg
import numpy as np
import OpenImageIO as oiio
import tifffile
from PIL import Image

y, x = np.mgrid[0:60, 0:100]
bits = ((x - 50) ** 2 + (y - 30) ** 2 < 400) | (y < 10)


def by_ffmpeg():
    made = subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", "bits.tif", "-f",
                           "rawvideo", "-pix_fmt", "gray", "-"], capture_output=True)
    print("ffmpeg:", made.returncode, made.stderr.decode().strip())
    assert made.returncode == 0
    return np.frombuffer(made.stdout, np.uint8).reshape(bits.shape)


def wrong(rows):
    """Pixels that are not those written, by reader; None where the file is refused."""
    tifffile.imwrite("bits.tif", bits, compression="packbits", photometric="minisblack", rowsperstrip=rows)
    by = {"tifffile": tifffile.imread("bits.tif"), "Pillow": np.asarray(Image.open("bits.tif")),
          "OpenCV": cv2.imread("bits.tif", cv2.IMREAD_GRAYSCALE), "FFmpeg": by_ffmpeg()}
    found = {name: int(((read > 0) != bits).sum()) for name, read in by.items()}
    file = oiio.ImageInput.open("bits.tif")
    read = file.read_image(oiio.UINT8)
    refused = file.has_error
    if refused:
        print("OpenImageIO:", file.geterror())
    found["OpenImageIO"] = None if refused else int(((read.reshape(bits.shape) > 0) != bits).sum())
    return found


strips, rows = wrong(60), wrong(1)
print("wrong pixels, one strip:", strips)
print("wrong pixels, a strip a row:", rows)
assert set(rows.values()) == {0}, rows
assert strips == {"tifffile": 0, "Pillow": 0, "OpenCV": 0, "FFmpeg": 1245, "OpenImageIO": None}, strips
print("as described: runs that go on into the next row are lost where rows are read one by one")
PYTHON
