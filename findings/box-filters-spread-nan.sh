#!/usr/bin/env bash
# One NaN in a 64x64 image of float32 ends up far outside the box of a box filter.
#
# scipy 1.17.1: uniform_filter of side 3 gives 3,025 NaNs where nine pixels see the NaN: everything to
# the right of it and below, since sums run along each line and a NaN never leaves them. OpenCV 5.0.0:
# blur does so too, and how far depends on the side: 165 NaNs for 3, 280 for 5, 3,364 for 9.
# GaussianBlur of the same sides gives 9, 25 and 81. An infinity does the same as a NaN, but 1e8 leaves
# no trace.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 scipy==1.17.1 opencv-python-headless==5.0.0.93
venv/bin/python - <<'PYTHON'
import cv2
import numpy as np
import scipy.ndimage as ndi

image = np.ones((64, 64), np.float32)
found = {}
for value in (np.nan, np.inf, 1e8):
    dotted = image.copy()
    dotted[10, 10] = value
    for side in (3, 5, 9):
        found[str(value), side] = tuple(
            int(np.count_nonzero(~(result == 1)))
            for result in (ndi.uniform_filter(dotted, side), cv2.blur(dotted, (side, side)),
                           cv2.GaussianBlur(dotted, (side, side), 0)))
print("pixels that are not 1: uniform_filter, blur, GaussianBlur")
for key, counts in found.items():
    print(*key, *counts)
for value in ("nan", "inf"):
    assert found[value, 3] == (3025, 165, 9), found
    assert found[value, 5] == (3136, 280, 25), found
    assert found[value, 9] == (3364, 3364, 81), found
assert found["100000000.0", 3] == (9, 9, 9), found
PYTHON
