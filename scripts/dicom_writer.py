"""DICOM files of made pixels, by pydicom."""
import pydicom
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.encaps import encapsulate
from pydicom.uid import ExplicitVRLittleEndian

IMAGE = "1.2.840.10008.5.1.4.1.1.7"  # secondary capture


def dicom(path, values, stored=None, photometric="MONOCHROME2", syntax=ExplicitVRLittleEndian,
          data=None, overlay=None, **fields):
    """values[frame, y, x] or [y, x], colours behind x. data: the packed frames, else as they are.
    overlay: an element of one."""
    ds = Dataset()
    ds.file_meta = FileMetaDataset()
    ds.file_meta.TransferSyntaxUID = syntax
    ds.file_meta.MediaStorageSOPClassUID = ds.SOPClassUID = IMAGE
    ds.file_meta.MediaStorageSOPInstanceUID = ds.SOPInstanceUID = "1.2.3"
    ds.PatientName = "A^B"
    ds.Modality = "OT"
    is_colour = photometric in ("RGB", "YBR_FULL", "YBR_FULL_422")
    ds.SamplesPerPixel = 3 if is_colour else 1
    ds.PhotometricInterpretation = photometric
    if is_colour:
        ds.PlanarConfiguration = 0
    ds.Rows, ds.Columns = values.shape[-3:-1] if is_colour else values.shape[-2:]
    if values.ndim > (3 if is_colour else 2):
        ds.NumberOfFrames = values.shape[0]
    ds.BitsAllocated = 8 * values.dtype.itemsize
    ds.BitsStored = stored or ds.BitsAllocated
    ds.HighBit = ds.BitsStored - 1
    ds.PixelRepresentation = int(values.dtype.kind == "i")
    if data is not None:
        ds.PixelData = encapsulate(data)
        ds["PixelData"].is_undefined_length = True
    else:
        order = ">" if not syntax.is_little_endian else "<"
        raw = values.astype(values.dtype.newbyteorder(order)).tobytes()
        ds.PixelData = raw + b"\0" * (len(raw) % 2)
    ds["PixelData"].VR = "OB" if values.dtype.itemsize == 1 else "OW"
    if overlay is not None:
        ds.add(overlay)
    for name, value in fields.items():
        setattr(ds, name, value)
    ds.is_little_endian = syntax.is_little_endian
    ds.is_implicit_VR = syntax.is_implicit_VR
    pydicom.dcmwrite(path, ds, write_like_original=False)
