"""NIfTI files, field by field after nifti1.h and nifti2.h."""
import gzip
import struct

import numpy as np

CODES = {"uint8": 2, "int16": 4, "int32": 8, "float32": 16, "complex64": 32, "float64": 64,
         "rgb": 128, "int8": 256, "uint16": 512, "uint32": 768, "int64": 1024, "uint64": 1280,
         "rgba": 2304}


def nifti(values, version=1, order="<", kind=None, slope=0, offset=0, pixdim=(), units=2,
          window=(0, 0), text=b"", magic=None, qform=0, extra=b""):
    """values[..., z, y, x], and channels behind x where `kind` is a colour."""
    kind = kind or values.dtype.name
    shape = values.shape[:-1] if kind.startswith("rgb") else values.shape
    dim = [len(shape), *shape[::-1], *[1] * (7 - len(shape))]
    sizes = [1, *pixdim, *[0] * (7 - len(pixdim))]
    bits = 8 * values.dtype.itemsize * (values.shape[-1] if kind.startswith("rgb") else 1)
    stored = values.astype(values.dtype.newbyteorder(order)).tobytes()
    if version == 1:
        head = struct.pack(order + "i36x8h14x2h2x8f", 348, *dim, CODES[kind], bits, *sizes)
        head += struct.pack(order + "3fhbb2f", 352 + len(extra), slope, offset, 0, 0, units,
                            window[1], window[0])
        head = head.ljust(148, b"\0") + text.ljust(80, b"\0")
        head = head.ljust(252, b"\0") + struct.pack(order + "h", qform)
        head = head.ljust(344, b"\0") + (magic or b"n+1\0")
    else:
        head = struct.pack(order + "i8s2h8q24x8d", 540, magic or b"n+2\0\r\n\x1a\n", CODES[kind],
                           bits, *dim, *sizes)
        head += struct.pack(order + "q4d", 544 + len(extra), slope, offset, window[1], window[0])
        head = head.ljust(240, b"\0") + text.ljust(80, b"\0")
        head = head.ljust(344, b"\0") + struct.pack(order + "i", qform)
        head = head.ljust(500, b"\0") + struct.pack(order + "i", units)
        head = head.ljust(540, b"\0")
    return head + b"\0\0\0\0" + extra + stored


def gzipped(data):
    return gzip.compress(data, mtime=0)


def noise(shape, kind, seed=0):
    rng = np.random.default_rng(seed)
    if np.dtype(kind).kind == "f":
        return rng.normal(0, 1, shape).astype(kind)
    info = np.iinfo(kind)
    return rng.integers(max(info.min, -30000), min(info.max, 60000), shape).astype(kind)
