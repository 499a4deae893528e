#!/usr/bin/env bash
# A NIfTI whose scl_slope is 0 has two contents.
#
# The format says that a slope of 0 means "no scaling". nibabel 5.4.2 then leaves scl_inter out too, SimpleITK 2.5.7
# adds it: the same file of 0 to 23 with slope 0 and intercept 100 begins with 0 or with 100. With a slope of NaN
# they differ in the same way.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 nibabel==5.4.2 SimpleITK==2.5.7
venv/bin/python - <<'PYTHON'
import struct

import nibabel
import numpy as np
import SimpleITK

nibabel.save(nibabel.Nifti1Image(np.arange(24, dtype=np.int16).reshape(2, 3, 4), np.eye(4)), "a.nii")
with open("a.nii", "rb") as file:
    content = bytearray(file.read())
for slope in (0.0, float("nan")):
    struct.pack_into("<ff", content, 112, slope, 100.0)
    with open("b.nii", "wb") as file:
        file.write(content)
    by_nibabel = float(nibabel.load("b.nii").get_fdata().min())
    by_itk = float(SimpleITK.GetArrayFromImage(SimpleITK.ReadImage("b.nii")).min())
    print("slope", slope, "least value: nibabel", by_nibabel, "SimpleITK", by_itk)
    assert (by_nibabel, by_itk) == (0.0, 100.0)
PYTHON
