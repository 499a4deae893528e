#!/usr/bin/env bash
# Labels 3 and 5 that are saved with the header of their own file come back as 3.0000001 and 5.0000002.
#
# nibabel 5.4.2: get_fdata() gives floats; Nifti1Image(floats, affine, header) with the header of a uint8 file
# keeps uint8 and stretches the values over 0 to 255 by a slope of 5/255, though all of them are whole numbers that
# fit. `labels == 3` is false everywhere afterwards.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 nibabel==5.4.2
venv/bin/python - <<'PYTHON'
import nibabel
import numpy as np

labels = np.zeros((4, 4, 4), np.uint8)
labels[1] = 3
nibabel.save(nibabel.Nifti1Image(labels, np.eye(4)), "labels.nii")
first = nibabel.load("labels.nii")
values = first.get_fdata()
values[2] = 5
nibabel.save(nibabel.Nifti1Image(values, first.affine, first.header), "more.nii")
second = nibabel.load("more.nii")
found = second.get_fdata()
print(np.unique(found), second.get_data_dtype(), "slope", second.dataobj.slope)
assert second.get_data_dtype() == np.uint8
assert np.count_nonzero(found == 3) == 0 and np.count_nonzero(np.rint(found) == 3) == 16
PYTHON
