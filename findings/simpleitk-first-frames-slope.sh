#!/usr/bin/env bash
# All frames of an enhanced DICOM are scaled by the first one's slope.
#
# SimpleITK 2.5.7: the enhanced (multi-frame) kinds of MR, CT and PET may have a rescale of their own for each
# frame, in the Per-Frame Functional Groups. ReadImage takes the first frame's for all: three frames of stored 100
# with slopes of 0.5, 0.25 and 2 are 50, 50, 50 and not 50, 25, 200, as floats and without a warning; intercepts
# likewise. highdicom 0.28.2 and dcm2niix 1.0.20260724 give 50, 25, 200, and so does SimpleITK for the same three
# frames as a series of single files, so that a scan's numbers depend on the export that it came by. Slopes that
# are all alike, or shared by all frames, are right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 pydicom==3.0.2 SimpleITK==2.5.7 highdicom==0.28.2 \
  dcm2niix==1.0.20260724 nibabel==5.4.2
venv/bin/python - <<'PYTHON'
import glob
import os
import subprocess

import highdicom
import nibabel
import numpy as np
import SimpleITK
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian

STORED, SLOPES = 100, (0.5, 0.25, 2.0)


def item(**values):
    dataset = Dataset()
    for name, value in values.items():
        setattr(dataset, name, value)
    return dataset


def rescale(slope):
    return [item(RescaleIntercept=0, RescaleSlope=slope, RescaleType="US")]


def image(kind, number, frames):
    dataset = item(SOPClassUID=kind, SOPInstanceUID=f"1.2.3.{number}", StudyInstanceUID="1.2.4",
                   SeriesInstanceUID="1.2.5", FrameOfReferenceUID="1.2.6", Modality="MR", PatientName="A",
                   PatientID="A", InstanceNumber=number, Rows=4, Columns=4, SamplesPerPixel=1,
                   PhotometricInterpretation="MONOCHROME2", BitsAllocated=16, BitsStored=16, HighBit=15,
                   PixelRepresentation=0, PixelData=np.full((frames, 4, 4), STORED, "<u2").tobytes())
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    dataset.file_meta.MediaStorageSOPClassUID = kind
    dataset.file_meta.MediaStorageSOPInstanceUID = dataset.SOPInstanceUID
    return dataset


def enhanced(slopes=None, shared=None):
    dataset = image("1.2.840.10008.5.1.4.1.1.4.1", 1, len(SLOPES))
    dataset.NumberOfFrames = len(SLOPES)
    groups = item(PixelMeasuresSequence=[item(PixelSpacing=[1, 1], SliceThickness=1)],
                  PlaneOrientationSequence=[item(ImageOrientationPatient=[1, 0, 0, 0, 1, 0])])
    if shared:
        groups.PixelValueTransformationSequence = rescale(shared)
    dataset.SharedFunctionalGroupsSequence = [groups]
    dataset.PerFrameFunctionalGroupsSequence = []
    for index in range(len(SLOPES)):
        frame = item(FrameContentSequence=[item(StackID="1", InStackPositionNumber=index + 1,
                                                  DimensionIndexValues=[1, index + 1])],
                     PlanePositionSequence=[item(ImagePositionPatient=[0, 0, index])])
        if slopes:
            frame.PixelValueTransformationSequence = rescale(slopes[index])
        dataset.PerFrameFunctionalGroupsSequence.append(frame)
    os.makedirs("enhanced", exist_ok=True)
    dataset.save_as("enhanced/a.dcm", enforce_file_format=True)


def by_simpleitk(names):
    return SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(names))[:, 0, 0].tolist()


right = [STORED * slope for slope in SLOPES]
enhanced(shared=0.25)
assert by_simpleitk("enhanced/a.dcm") == [STORED * 0.25] * 3
enhanced(slopes=[0.25] * 3)
assert by_simpleitk("enhanced/a.dcm") == [STORED * 0.25] * 3
enhanced(slopes=SLOPES)
print("SimpleITK", by_simpleitk("enhanced/a.dcm"))
assert by_simpleitk("enhanced/a.dcm") == [STORED * SLOPES[0]] * 3
frames = highdicom.imread("enhanced/a.dcm").get_frames(apply_modality_transform=True)[:, 0, 0].tolist()
print("highdicom", frames)
assert frames == right
subprocess.run(["venv/bin/dcm2niix", "-b", "n", "-z", "n", "enhanced"], check=True, stdout=subprocess.DEVNULL)
frames = nibabel.load(glob.glob("enhanced/*.nii")[0]).get_fdata()[0, 0].tolist()
print("dcm2niix", frames)
assert frames == right
for index, slope in enumerate(SLOPES):
    dataset = image("1.2.840.10008.5.1.4.1.1.4", index + 1, 1)
    dataset.PixelSpacing, dataset.SliceThickness = [1, 1], 1
    dataset.ImageOrientationPatient, dataset.ImagePositionPatient = [1, 0, 0, 0, 1, 0], [0, 0, index]
    dataset.RescaleIntercept, dataset.RescaleSlope = 0, slope
    dataset.save_as(f"{index}.dcm", enforce_file_format=True)
print("SimpleITK, a series of files", by_simpleitk(["0.dcm", "1.dcm", "2.dcm"]))
assert by_simpleitk(["0.dcm", "1.dcm", "2.dcm"]) == right
PYTHON
