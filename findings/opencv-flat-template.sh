#!/usr/bin/env bash
# A flat template matches everything perfectly.
#
# OpenCV 5.0.0: matchTemplate with TM_CCOEFF_NORMED, whose quotient is 0/0 for a template of one value, gives
# 1, a perfect match, at every position of a random image. scikit-image 0.26.0's match_template, the same
# coefficient, gives 0 everywhere.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 scikit-image==0.26.0 opencv-python-headless==5.0.0.93
venv/bin/python - <<'PYTHON'
import cv2
import numpy as np
from skimage.feature import match_template

image = np.random.default_rng(0).integers(0, 256, (50, 50)).astype(np.uint8)
template = np.full((5, 5), 7, np.uint8)
by_opencv = cv2.matchTemplate(image, template, cv2.TM_CCOEFF_NORMED)
by_skimage = match_template(image, template)
print("OpenCV", by_opencv.min(), by_opencv.max(), "scikit-image", by_skimage.min(), by_skimage.max())
assert (by_opencv == 1).all()
assert (by_skimage == 0).all()
PYTHON
