#!/usr/bin/env bash
# A value for undefined pixels changes pixels that are not undefined, when CFITSIO reads floats.
#
# CFITSIO 4.2.0 (Debian 12), fits_read_img of a FITS image of 32-bit floats: without a value for
# undefined pixels (0), all come as they are. With one, NaN as much as -7, both infinities become that
# value and are counted as undefined, and numbers below 1.2e-38 (subnormal ones) become 0, since
# the test looks at the exponent's bits alone. The FITS standard calls NaN alone undefined. So a program
# that asks for NaN where pixels are NaN, which reads like no change at all, loses saturated pixels.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download --quiet=2 -o APT::Sandbox::User=root libcfitsio10=4.2.0-3
dpkg-deb -x libcfitsio10_*.deb library
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 astropy==8.0.2
venv/bin/python - <<'PYTHON'
import ctypes
import glob

import numpy as np
from astropy.io import fits

pixels = np.array([[1, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 2, 3]], np.float32)
fits.PrimaryHDU(pixels).writeto("a.fits")
cfitsio = ctypes.CDLL(glob.glob("library/usr/lib/*/libcfitsio.so.10")[0])
status = ctypes.c_int(0)
file = ctypes.c_void_p()
cfitsio.ffdkopn(ctypes.byref(file), b"a.fits", 0, ctypes.byref(status))  # fits_open_diskfile
TFLOAT = 42


def read(undefined):
    out = np.zeros(8, np.float32)
    value, some = ctypes.c_float(undefined), ctypes.c_int(0)
    cfitsio.ffgpv(file, TFLOAT, ctypes.c_longlong(1), ctypes.c_longlong(8),  # fits_read_img
                  ctypes.byref(value), out.ctypes.data_as(ctypes.c_void_p), ctypes.byref(some),
                  ctypes.byref(status))
    assert status.value == 0
    print("undefined:", undefined, "->", out, "some undefined:", bool(some.value))
    return out


as_they_are, with_nan, with_number = read(0), read(np.nan), read(-7)
assert as_they_are.tobytes() == pixels.tobytes()
assert np.array_equal(with_nan, [[1, np.nan, np.nan, np.nan, 0, 0, 2, 3]][0], equal_nan=True)
assert np.array_equal(with_number, [1, -7, -7, -7, 0, 0, 2, 3])
PYTHON
