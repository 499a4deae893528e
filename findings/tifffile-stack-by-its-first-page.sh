#!/usr/bin/env bash
# Pages of a TIFF stack are read from where the first one ends, not from where their directories say.
#
# tifffile 2026.3.3, NumPy 2.4.6, Pillow 12.0.0: in a TIFF of pages that are not compressed, whose first
# page has an ImageDescription of {"shape": [pages, height, width]} (as tifffile's own files have), imread
# takes all pages from one run of bytes that begins at the first page's strip. The strip offsets of the
# other pages are not looked at, nor whether they follow. A file whose pages are in other places, as a
# program leaves it that rewrites one page or copies directories, gives other pixels, with no error and no
# warning. Pillow reads the pages that the directories name, and so does tifffile with is_shaped=False.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 tifffile==2026.3.3 pillow==12.0.0
venv/bin/python - <<'PYTHON'
import struct

import numpy as np
import tifffile
from PIL import Image

HEIGHT, WIDTH, PAGES = 4, 8, 3
pages = np.arange(PAGES * HEIGHT * WIDTH, dtype=np.uint8).reshape(PAGES, HEIGHT, WIDTH)
text = b'{"shape": [3, 4, 8]}\0'


def stack(order):
    """A TIFF of the three pages, whose pixels are stored in this order, after 32 other bytes each."""
    out = bytearray(b"II*\0" + bytes(4))
    begins = {}
    for page in order:
        out += b"\xee" * 32 if page != order[0] else b""
        begins[page] = len(out)
        out += pages[page].tobytes()
    text_at = len(out)
    out += text + bytes(len(text) % 2)
    link = 4
    for page in range(PAGES):
        struct.pack_into("<I", out, link, len(out))
        fields = [(256, 3, 1, WIDTH), (257, 3, 1, HEIGHT), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1)]
        fields += [(270, 2, len(text), text_at)] if page == 0 else []
        fields += [(273, 4, 1, begins[page]), (277, 3, 1, 1), (278, 3, 1, HEIGHT),
                   (279, 4, 1, HEIGHT * WIDTH)]
        out += struct.pack("<H", len(fields))
        for tag, kind, count, value in fields:
            out += struct.pack("<HHII", tag, kind, count, value)
        link = len(out)
        out += bytes(4)
    return bytes(out)


with open("stack.tif", "wb") as file:
    file.write(stack([0, 2, 1]))
by_pillow = []
with Image.open("stack.tif") as image:
    for page in range(PAGES):
        image.seek(page)
        by_pillow.append(np.array(image))
assert np.array_equal(by_pillow, pages)
assert np.array_equal(tifffile.imread("stack.tif", is_shaped=False, key=range(PAGES)), pages)
read = tifffile.imread("stack.tif")
print("page 0 right:", np.array_equal(read[0], pages[0]), "page 1:", read[1].ravel()[:4], "instead of",
      pages[1].ravel()[:4])
assert read.shape == pages.shape and np.array_equal(read[0], pages[0])
assert (read[1] == 0xEE).all(), "what lies behind the first page, though no directory names it"
PYTHON
