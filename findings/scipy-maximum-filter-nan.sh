#!/usr/bin/env bash
# Maximum and minimum filters over floats with a NaN give numbers that are neither by any convention.
#
# scipy 1.17.1: maximum_filter(size=3) over 200 images of 9x9 random doubles, a NaN in the middle of each. Of the
# 1,800 windows that see it 43 give NaN, nearly all others the maximum of the numbers, so that NaN seems to be
# left out; 43 give a smaller number of the window. minimum_filter: 69 give another number than
# the least.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 scipy==1.17.1
venv/bin/python - <<'PYTHON'
import numpy as np
import scipy.ndimage as ndi
from numpy.lib.stride_tricks import sliding_window_view

wrong = least_wrong = nans = 0
for seed in range(200):
    image = np.random.default_rng(seed).random((9, 9))
    image[4, 4] = np.nan
    windows = sliding_window_view(image, (3, 3))
    found = ndi.maximum_filter(image, size=3)[1:-1, 1:-1]
    numbers = np.nanmax(windows, axis=(2, 3))
    with_nan = np.max(windows, axis=(2, 3))
    is_either = (found == numbers) | (found == with_nan) | (np.isnan(found) & np.isnan(with_nan))
    wrong += int(np.count_nonzero(~is_either))
    nans += int(np.count_nonzero(np.isnan(found)))
    least = ndi.minimum_filter(image, size=3)[1:-1, 1:-1]
    least_wrong += int(np.count_nonzero(least != np.nanmin(windows, axis=(2, 3))))
print(f"of 1,800 windows with a NaN: neither maximum {wrong}, NaN {nans}; "
      f"not the least number {least_wrong}")
assert (wrong, nans, least_wrong) == (43, 43, 69)
PYTHON
