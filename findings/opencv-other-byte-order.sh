#!/usr/bin/env bash
# OpenCV takes no notice of an array's byte order: images straight from FITS are other numbers to it.
#
# opencv-python-headless 5.0.0.93 (4.12.0.88 as well): the Python binding looks at the kind of number and its
# size alone. An array in big-endian order, which is what astropy.io.fits returns for every image that is not
# scaled, is taken as if it were native, without an error: of a ramp from 1000 to 1819 mean is 1409.5, and 1.0e-38
# of the same as ">f4", 4.1e-317 as ">f8" and -155 as ">i2". blur, resize, flip, minMaxLoc, imencode and others
# do the same, and their results are native arrays which no longer say where they came from. Bytes are right, and
# so are floats once arithmetic has touched them, since NumPy's results are native: `image - dark` works where `image`
# does not. scipy 1.17.1 has the right mean filter of the same arrays, and SimpleITK 2.5.7 refuses them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 opencv-python-headless==5.0.0.93 astropy==8.0.2 scipy==1.17.1 SimpleITK==2.5.7
venv/bin/python - <<'PYTHON'
import cv2
import numpy as np
import scipy.ndimage
import SimpleITK
from astropy.io import fits


def tiff(image):
    return cv2.imdecode(cv2.imencode(".tiff", image)[1], cv2.IMREAD_UNCHANGED)


ramp = np.add.outer(3 * np.arange(64), 10 * np.arange(64)) + 1000
assert ramp.min() == 1000 and ramp.max() == 1819
operators = {"mean": lambda image: cv2.mean(image)[0], "minMaxLoc": lambda image: cv2.minMaxLoc(image)[1],
             "blur": lambda image: cv2.blur(image, (3, 3)), "flip": lambda image: cv2.flip(image, 1),
             "resize": lambda image: cv2.resize(image, (32, 32), interpolation=cv2.INTER_AREA), "TIFF": tiff}
for kind in ("u1", "i2", "f4", "f8"):
    native = (ramp % 251 if kind == "u1" else ramp).astype(kind)
    fits.PrimaryHDU(native).writeto("a.fits", overwrite=True)
    image = fits.getdata("a.fits")
    assert np.array_equal(image, native) and image.dtype == np.dtype(">" + kind)
    assert np.array_equal(scipy.ndimage.uniform_filter(image, 3), scipy.ndimage.uniform_filter(native, 3))
    for name, operator in operators.items():
        right, result = np.asarray(operator(native)), np.asarray(operator(image))
        swapped = np.asarray(operator(native.byteswap()))
        print(image.dtype, name, result.ravel()[0], "right:", right.ravel()[0])
        assert result.dtype.isnative and np.array_equal(result, swapped)
        assert np.array_equal(result, right) == (kind == "u1")
        assert np.array_equal(operator(image - image.dtype.type(0)), right)
    if kind != "u1":
        try:
            SimpleITK.GetImageFromArray(image)
        except TypeError as error:
            print("SimpleITK:", error)
        else:
            raise AssertionError("SimpleITK takes it")
PYTHON
