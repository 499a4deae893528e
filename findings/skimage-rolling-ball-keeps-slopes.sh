#!/usr/bin/env bash
# A rolling ball does not follow an even slope: what is left of a ramp has an offset, and the background
# of a background is another one.
#
# scikit-image 0.26.0: rolling_ball is where the apex of a ball comes to rest below the surface, one
# weighted minimum. Sternberg's rolling ball, as ImageJ's, is an opening: the whole of the ball's upper
# side is the background, a ramp is its own background, and a second pass changes nothing.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 scipy==1.17.0 scikit-image==0.26.0
venv/bin/python - <<'PYTHON'
import numpy as np
from scipy.ndimage import grey_opening
from skimage.restoration import ball_kernel, rolling_ball

slope, radius = 2.0, 20
ramp = np.tile(slope * np.arange(201.0), (201, 1))
inside = np.s_[60:-60, 60:-60]

left = (ramp - rolling_ball(ramp, radius=radius))[inside]
print("left of a ramp without objects:", left.min(), "to", left.max())
# The ball touches the slope beside its apex: radius (sqrt(1 + slope^2) - 1), less what lies between pixels.
expected = radius * (np.sqrt(1 + slope**2) - 1)
assert np.abs(left - expected).max() < 0.5 and left.min() > 20

ball = ball_kernel(radius, 2)
opened = grey_opening(ramp, footprint=np.isfinite(ball), structure=np.where(np.isfinite(ball), ball, 0))
print("left by an opening with the same ball:", np.abs(ramp - opened)[inside].max())
assert np.abs(ramp - opened)[inside].max() < 1e-9

bumps = np.random.default_rng(0).normal(0, 30, (201, 201)) + 500
once = rolling_ball(bumps, radius=radius)
twice = rolling_ball(once, radius=radius)
print("background less the background's own:", (once - twice)[inside].max())
assert (once - twice)[inside].max() > 0.5
PYTHON
