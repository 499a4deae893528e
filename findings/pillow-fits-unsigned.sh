#!/usr/bin/env bash
# Unsigned 16-bit FITS, what every camera writes, is another picture in Pillow, and another again in OpenImageIO.
#
# Such a file holds x - 32768 as int16 and BZERO 32768. Pillow 13.0.0 ignores BZERO and takes the signed numbers for
# unsigned: 0, 40000, 65535 become 32768, 7232, 32767. OpenImageIO 3.2.2 ignores it too; asked for
# uint16 it clips negatives to 0 and stretches the rest: 0, 14464, 65535. astropy gives them back as they were.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 astropy==8.0.2 pillow==13.0.0 openimageio==3.2.2.0
venv/bin/python - <<'PYTHON'
import numpy as np
import OpenImageIO
from astropy.io import fits
from PIL import Image

image = np.array([[0, 40000, 65535]], np.uint16)
fits.writeto("u.fits", image)
by_pillow = np.asarray(Image.open("u.fits")).ravel().tolist()
by_oiio = OpenImageIO.ImageInput.open("u.fits").read_image("uint16").ravel().tolist()
print("Pillow", by_pillow, "OpenImageIO", by_oiio)
assert fits.getdata("u.fits").ravel().tolist() == [0, 40000, 65535]
assert by_pillow == [32768, 7232, 32767]
assert by_oiio == [0, 14464, 65535]
PYTHON
