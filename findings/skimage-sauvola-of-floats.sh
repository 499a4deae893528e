#!/usr/bin/env bash
# The same page has another Sauvola threshold as floats than as bytes; Niblack's agrees.
#
# scikit-image 0.26.0: threshold_sauvola divides the deviation by R, by default half of the range that
# the type may have. For bytes that is 127.5, half of white; floats may be -1 to 1, so R is 1, all of white. After
# img_as_float thresholds are lower and other pixels are ink, and nothing says so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 scikit-image==0.26.0
venv/bin/python - <<'PYTHON'
import numpy as np
from skimage.filters import threshold_niblack, threshold_sauvola

image = np.random.default_rng(0).integers(60, 200, (64, 64)).astype(np.uint8)
floats = image / 255
of_bytes, of_floats = threshold_sauvola(image, 15) / 255, threshold_sauvola(floats, 15)
print("Sauvola, of white: bytes", of_bytes.mean(), "floats", of_floats.mean())
assert (of_bytes > of_floats).all() and 0.01 < (of_bytes - of_floats).mean() < 0.02
assert np.abs(of_bytes - threshold_sauvola(floats, 15, r=0.5)).max() < 1e-9
assert np.abs(threshold_niblack(image, 15) / 255 - threshold_niblack(floats, 15)).max() < 1e-9
PYTHON
