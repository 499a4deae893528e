#!/usr/bin/env bash
# A DICOM in which 0 is white is inverted by SimpleITK, which goes on saying that 0 is white.
#
# SimpleITK 2.5.7 turns stored values of MONOCHROME1 over (4095 - x of 12 bits, before the rescale) and keeps
# "MONOCHROME1" in the image's metadata, so whoever follows the tag inverts twice. pydicom 3.0.2 hands out
# the values as stored. With a rescale of 1 and -1024 stored 0 becomes 3071.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 pydicom==3.0.2 SimpleITK==2.5.7
venv/bin/python - <<'PYTHON'
import numpy as np
import pydicom
import SimpleITK
from pydicom.dataset import Dataset, FileMetaDataset

stored = np.array([[0, 1, 2047, 2048], [4094, 4095, 100, 7]])


def write(name, rescale):
    kind = "1.2.840.10008.5.1.4.1.1.1"
    data = Dataset()
    data.file_meta = FileMetaDataset()
    data.file_meta.TransferSyntaxUID = "1.2.840.10008.1.2.1"
    data.SOPClassUID = data.file_meta.MediaStorageSOPClassUID = kind
    data.SOPInstanceUID = data.file_meta.MediaStorageSOPInstanceUID = "1.2.3"
    data.Modality = "CR"
    data.Rows, data.Columns = stored.shape
    data.SamplesPerPixel, data.PixelRepresentation = 1, 0
    data.BitsAllocated, data.BitsStored, data.HighBit = 16, 12, 11
    data.PhotometricInterpretation = "MONOCHROME1"
    if rescale:
        data.RescaleSlope, data.RescaleIntercept = rescale
    data.PixelData = stored.astype("<u2").tobytes()
    pydicom.dcmwrite(name, data, enforce_file_format=True)


for rescale, offset in ((None, 0), ((1, -1024), -1024)):
    write("x.dcm", rescale)
    image = SimpleITK.ReadImage("x.dcm")
    found = SimpleITK.GetArrayFromImage(image).reshape(stored.shape)
    print(rescale, found.ravel(), image.GetMetaData("0028|0004"))
    assert (found == 4095 - stored + offset).all()
    assert image.GetMetaData("0028|0004").strip() == "MONOCHROME1"
    assert (pydicom.dcmread("x.dcm").pixel_array == stored).all()
PYTHON
