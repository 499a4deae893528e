#!/usr/bin/env bash
# Black pixels of a Zarr array are "no data" for GDAL.
#
# zarr 3.1.6 gives every array the fill value 0, which says what chunks hold that were never written. rasterio
# 1.4.4 (GDAL 3.10.3) takes that value for the image's no-data value: read(masked=True) hides all
# 39,936 black pixels of an array that was written whole, and its mean is 200 instead of 78. With fill_value=None
# nothing is hidden. (It cannot read zarr's default format 3 at all: "Unsupported codec: bytes".)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 zarr==3.1.6 rasterio==1.4.4
venv/bin/python - <<'PYTHON'
import warnings

import numpy as np
import rasterio
import zarr

warnings.simplefilter("ignore")
image = np.zeros((256, 256), np.uint8)
image[:, :100] = 200
hidden = {}
for fill in (0, None):
    array = zarr.create_array("image.zarr", shape=image.shape, chunks=(128, 128), dtype="u1",
                              zarr_format=2, fill_value=fill, overwrite=True)
    array[:] = image
    with rasterio.open('ZARR:"image.zarr"') as source:
        assert (source.read(1) == image).all()
        masked = source.read(1, masked=True)
        hidden[fill] = int(np.ma.getmaskarray(masked).sum())
        print("fill value", fill, "no data", source.nodata, "hidden", hidden[fill], "mean", masked.mean())
assert hidden == {0: 39936, None: 0}
zarr.create_array("three.zarr", data=image, overwrite=True)
try:
    rasterio.open('ZARR:"three.zarr"')
    raise AssertionError("format 3 is read now")
except rasterio.errors.RasterioIOError as error:
    print("format 3:", error)
PYTHON
