#!/usr/bin/env bash
# Pixels without a value of a FITS image of whole numbers are read as numbers, where BLANK is 0.
#
# astropy 8.0.2: BLANK names the stored number of pixels that have no value. An image with BLANK = 5 is
# read as floats with NaN for 5. One with BLANK = 0, the usual choice for bytes and masked mosaics, is turned into
# floats too, but its zeros stay 0.0, in 8, 16 and 32 bits and with any BZERO: the number is tested for truth where
# it should be tested for being there. No warning says so, and the mean of the image is wrong.
# Unsigned 16 bits (BZERO = 32768) are uint16 by default and BLANK is not looked at, whatever it is;
# uint=False reads them as floats with NaN.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 astropy==8.0.2
venv/bin/python - <<'PYTHON'
import warnings

import numpy as np
from astropy.io import fits

warnings.simplefilter("error")


def read(stored, blank, zero, **options):
    cards = [("SIMPLE", True), ("BITPIX", stored.dtype.itemsize * 8), ("NAXIS", 1),
             ("NAXIS1", stored.size), ("BZERO", zero), ("BSCALE", 1), ("BLANK", blank)]
    head = fits.Header(cards).tostring(padding=True).encode()
    data = stored.astype(stored.dtype.newbyteorder(">")).tobytes()
    with open("a.fits", "wb") as file:
        file.write(head + data.ljust(2880, b"\0"))
    pixels = fits.getdata("a.fits", **options)
    print(stored.dtype, "BLANK", blank, "BZERO", zero, options, "->", pixels, pixels.dtype)
    return pixels


for kind in (np.uint8, np.int16, np.int32):
    for zero in (0, 1):
        stored = np.array([0, 1, 5], kind)
        five, none = read(stored, 5, zero), read(stored, 0, zero)
        assert five.dtype.kind == none.dtype.kind == "f"
        assert np.isnan(five).tolist() == [False, False, True], five
        assert none.tolist() == [zero, 1 + zero, 5 + zero], none
stored = np.array([-32768, -32767, 5], np.int16)
unsigned = read(stored, -32768, 32768)
assert unsigned.dtype == np.uint16 and unsigned.tolist() == [0, 1, 32773]
assert np.isnan(read(stored, -32768, 32768, uint=False)).tolist() == [True, False, False]
PYTHON
