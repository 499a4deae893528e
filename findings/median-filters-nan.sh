#!/usr/bin/env bash
# The 3x3 median of eight numbers and a NaN may be any of the nine, depending on where each stands.
#
# The window holds 1, 2, 3, 4, NaN, 6, 7, 8, 9. Sorted with NaN last the middle is 6, without it 4 or 6 (or 5 as
# their mean). scipy 1.17.1's median_filter gives 1 for some orders and 9 for others, OpenCV 5.0.0's
# medianBlur 2 and 8: networks of comparisons and sorts that assume an order lose or double values.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 scipy==1.17.1 opencv-python-headless==5.0.0.93
venv/bin/python - <<'PYTHON'
import random

import cv2
import numpy as np
import scipy.ndimage as ndi

chance = random.Random(0)
values = [1, 2, 3, 4, np.nan, 6, 7, 8, 9]
by_scipy, by_opencv = set(), set()
for _ in range(2000):
    chance.shuffle(values)
    window = np.array(values, np.float32).reshape(3, 3)
    by_scipy.add(str(ndi.median_filter(window, 3)[1, 1]))
    by_opencv.add(str(cv2.medianBlur(window, 3)[1, 1]))
print("scipy: ", *sorted(by_scipy))
print("OpenCV:", *sorted(by_opencv))
assert {"1.0", "9.0", "nan"} <= by_scipy
assert {"2.0", "8.0", "nan"} <= by_opencv
PYTHON
