#!/usr/bin/env bash
# Views of NumPy arrays are written to an EXR as other pixels, without an error.
#
# The official OpenEXR 3.5.3 package reads an array's memory from its first element on as if rows lay one behind the
# other, whatever its strides are: a transposed array, one in Fortran's order, a crop, rows from the last to
# the first and every second column all have the right shape in the file and wrong values.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 OpenEXR==3.5.3
venv/bin/python - <<'PYTHON'
import numpy as np
import OpenEXR

image = np.arange(48, dtype=np.float32).reshape(8, 6)
views = {"contiguous": image, "transposed": image.T, "Fortran order": np.asfortranarray(image),
         "crop": image[2:6, 1:4], "every second column": image[:, ::2]}
right = {}
for name, view in views.items():
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    with OpenEXR.File(header, {"Y": view}) as file:
        file.write("view.exr")
    with OpenEXR.File("view.exr") as file:
        found = file.channels()["Y"].pixels.copy()
    assert found.shape == view.shape
    right[name] = bool((found == view).all())
    print(name, "right" if right[name] else "WRONG", found.ravel()[:4])
assert right.pop("contiguous")
assert not any(right.values()), right
PYTHON
