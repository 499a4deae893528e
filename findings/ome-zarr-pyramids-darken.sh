#!/usr/bin/env bash
# Levels of a pyramid get darker, and masks vanish from the first level on.
#
# ome-zarr 0.18.0: write_image halves each level by means that are cut down to integers, not rounded. Rows of 7 and 8
# (mean 7.5) are 7 from the first level on, and of a mask with 300 scattered ones no pixel is left in any
# smaller level. A viewer that opens at a coarse level shows an empty mask.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 zarr==3.1.6 ome-zarr==0.18.0
venv/bin/python - <<'PYTHON'
import warnings

import numpy as np
import ome_zarr.writer
import zarr

warnings.simplefilter("ignore")
rows = np.full((256, 256), 7, np.uint8)
rows[::2] = 8
chance = np.random.default_rng(0)
mask = np.zeros((256, 256), np.uint8)
mask[chance.integers(0, 256, 300), chance.integers(0, 256, 300)] = 1
for name, image in (("rows", rows), ("mask", mask)):
    group = zarr.open_group(f"{name}.zarr", mode="w")
    ome_zarr.writer.write_image(image, group, axes="yx")
    means = [float(group[key][:].mean()) for key in sorted(group.array_keys())]
    print(name, means)
    assert len(means) == 5
    assert means[1:] == [7.0 if name == "rows" else 0.0] * 4, means
PYTHON
