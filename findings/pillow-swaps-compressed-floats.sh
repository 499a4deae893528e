#!/usr/bin/env bash
# Floats of a TIFF in Motorola's byte order are 5.8e-41 instead of -5, as soon as they are compressed.
#
# Pillow 13.0.0: a gray TIFF of 32-bit floats, or of signed integers of 16 or 32 bits, in big-endian order is
# read right when it is not compressed. Compressed by deflate, LZW or PackBits every pixel comes back with its
# bytes the other way round and without an error: libtiff, which unpacks those, hands out native numbers, and
# Pillow swaps them once more. -5, -4, -3 become -1025, -769, -513 in 16 bits and -67108865, -50331649, -33554433
# in 32. Unsigned 16 bits, for which Pillow allows for that, are right both ways, so that a test with those
# passes, and so are all files in little-endian order. rasterio 1.4.4 (GDAL), which writes the files here, and
# tifffile 2026.3.3 read all of them right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 pillow==13.0.0 rasterio==1.4.4 tifffile==2026.3.3 \
  imagecodecs==2026.3.6
venv/bin/python - <<'PYTHON'
import warnings

import numpy as np
import rasterio
import tifffile
from PIL import Image

warnings.simplefilter("ignore")


def written(pixels, order, compression):
    height, width = pixels.shape
    with rasterio.open("a.tif", "w", driver="GTiff", width=width, height=height, count=1, dtype=pixels.dtype,
                       compress=compression, ENDIANNESS=order) as file:
        file.write(pixels, 1)
    with rasterio.open("a.tif") as file:
        assert np.array_equal(file.read(1), pixels)
    assert np.array_equal(tifffile.imread("a.tif"), pixels)
    with Image.open("a.tif") as image:
        return np.array(image)


for kind in ("uint16", "int16", "int32", "float32"):
    pixels = (np.arange(96 * 64).reshape(96, 64) - (0 if kind == "uint16" else 5)).astype(kind)
    for order in ("LITTLE", "BIG"):
        for compression in ("NONE", "DEFLATE", "LZW", "PACKBITS"):
            read = written(pixels, order, compression)
            right = np.array_equal(read, pixels)
            print(kind, order, compression, read[0, :3], "right" if right else "wrong")
            assert right == (kind == "uint16" or order == "LITTLE" or compression == "NONE")
            if not right:
                assert np.array_equal(read, pixels.byteswap(), equal_nan=True)
PYTHON
