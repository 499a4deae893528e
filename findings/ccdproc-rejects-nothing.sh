#!/usr/bin/env bash
# "Sigma clipping" of ten frames cannot reject anything, not even a pixel of a million among tens.
#
# ccdproc 2.5.1: combine(sigma_clip=True) compares each value once with mean and standard deviation, in which the
# outlier itself stands. Of n values none can be further away than (n-1)/sqrt(n) deviations, which is 2.85 for ten: a
# threshold of 3 rejects nothing whatever the values are. astropy's own sigma_clip goes by the median and repeats.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 astropy==8.0.2 ccdproc==2.5.1
venv/bin/python - <<'PYTHON'
import warnings

import ccdproc
import numpy as np
from astropy.nddata import CCDData
from astropy.stats import sigma_clip

warnings.simplefilter("ignore")
chance = np.random.default_rng(0)
for count in (10, 11):
    frames = [CCDData(10 + chance.normal(0, 0.1, (4, 4)), unit="adu") for _ in range(count)]
    frames[3].data[1, 1] = 1e6
    combined = ccdproc.combine(frames, method="average", sigma_clip=True,
                               sigma_clip_low_thresh=3, sigma_clip_high_thresh=3)
    values = np.array([frame.data[1, 1] for frame in frames])
    clipped = float(np.ma.mean(sigma_clip(values, sigma=3)))
    print(count, "frames: ccdproc", combined.data[1, 1], "astropy", clipped)
    assert (combined.data[1, 1] > 9e4) == (count == 10)
    assert 9.5 < clipped < 10.5
PYTHON
