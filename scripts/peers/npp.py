"""NPP, by the calls of npp.cu, which nvcc compiles here."""
import ctypes
import math

import cupy
import numpy as np

from peers import Call, compiled
from peers.clocks import CupyClock
from peers.table import AFFINE, BILATERAL, BILATERAL_SIGMA, KERNEL, KERNEL_SUM, colour, unit

SCRATCH = 2 << 30


def disk(radius):
    y, x = np.mgrid[-radius:radius + 1, -radius:radius + 1]
    return (x * x + y * y <= radius * radius).astype(np.uint8)


def gaussian(sigma):
    x = np.arange(-math.ceil(2 * sigma), math.ceil(2 * sigma) + 1)
    taps = np.exp(-x * x / (2 * sigma * sigma))
    return (taps / taps.sum()).astype(np.float32)


def turn(size):
    """By 30 degrees about the centre, from input to output."""
    cos, sin, middle = math.cos(math.pi / 6), math.sin(math.pi / 6), (size - 1) / 2
    return np.array([[cos, sin, middle - cos * middle - sin * middle],
                     [-sin, cos, middle + sin * middle - cos * middle]])


class Peer:
    where = "cuda"

    def __init__(self):
        cupy.zeros(1).sum().item()  # fails where there is no card
        self.library = compiled.load("npp")
        self.library.npp_version.restype = ctypes.c_char_p
        pointer, double, whole = ctypes.c_void_p, ctypes.c_double, ctypes.c_int
        self.library.npp_call.argtypes = [ctypes.c_char_p, whole, whole, whole, *[pointer] * 9,
                                          double, double, whole, pointer]
        self.clock = CupyClock()
        self.scratch = cupy.empty(SCRATCH, cupy.uint8)
        flipped = np.ascontiguousarray((KERNEL / KERNEL_SUM)[::-1, ::-1].astype(np.float32))
        self.weights = cupy.asarray(flipped)
        self.disks = {radius: cupy.asarray(disk(radius)) for radius in (5, 15)}
        self.taps = {sigma: cupy.asarray(gaussian(sigma)) for sigma in (1, 2, 5)}
        table = np.floor(np.clip((np.arange(256) / 255 - 0.2) / 0.6, 0, 1) * 255 + 0.5)
        self.table = cupy.asarray(table.astype(np.uint8))

    def version(self):
        return "NPP " + self.library.npp_version().decode()

    def put(self, array):
        return cupy.asarray(array.astype(np.uint8) if array.dtype == np.bool_ else array)

    def get(self, result):
        return cupy.asnumpy(result)

    def _call(self, row, kind, shape=None, dtype=None, size=0, sigma=None, radius=None,
              matrix=None):
        """run() of a row of npp.cu: shape and dtype of the result as functions of the input."""
        number = (2 if unit(kind) == "f32" else 0) + colour(kind)
        name = row.encode()
        element = self.disks[radius].data.ptr if radius else 0
        taps = self.taps[sigma] if sigma else None
        near = BILATERAL.get(unit(kind), 0)

        def run(a, b):
            out = cupy.empty(shape(a) if shape else a.shape, dtype or a.dtype)
            held = matrix(a.shape[0]) if matrix else None
            error = self.library.npp_call(
                name, number, a.shape[1], a.shape[0], a.data.ptr, b.data.ptr, out.data.ptr,
                self.scratch.data.ptr, self.weights.data.ptr, taps.data.ptr if sigma else 0,
                element, self.table.data.ptr, held.ctypes.data if matrix else 0, near,
                BILATERAL_SIGMA, radius or (len(taps) if sigma else size),
                cupy.cuda.get_current_stream().ptr)
            if error < 0:
                raise RuntimeError(f"NPP's status {error}")
            return out
        return run

    def calls(self, kind):
        if kind == "mask":
            return {"distance": Call(self._call("distance", kind, dtype=np.float32), off=0.02),
                    "label": Call(self._call("label", kind, dtype=np.uint32),
                                  note="labels the background as well")}
        if kind in ("labels", "relief"):
            return {}
        rows = {f"median {k}x{k}": Call(self._call("median", kind, size=k)) for k in (3, 5, 7, 15)}
        rows.update({f"gaussian, sigma {s}": Call(self._call("gaussian", kind, sigma=s))
                     for s in (1, 2, 5)})
        rows.update({
            "box 9x9": Call(self._call("box", kind, size=9)),
            "filter 7x7": Call(self._call("filter 7x7", kind)),
            "bilateral 5x5": Call(self._call("bilateral", kind, size=5),
                                  note="one weight for all channels"),
            "dilate square 5": Call(self._call("dilate square", kind, size=5)),
            "dilate square 31": Call(self._call("dilate square", kind, size=31)),
            "dilate disk 5": Call(self._call("dilate disk", kind, radius=5)),
            "open square 15": Call(self._call("open square", kind, size=15)),
            "open disk 15": Call(self._call("open disk", kind, radius=15)),
            "transpose": Call(self._call("transpose", kind,
                                         shape=lambda a: (a.shape[1], a.shape[0], *a.shape[2:]))),
        })
        rows.update(self._geometry(kind))
        rows.update(self._colours(kind) if colour(kind) else self._gray(kind))
        if kind != "rgb-f32":
            rows["stretch"] = Call(self._call("stretch", kind))
        return rows

    def _gray(self, kind):
        one = {"shape": lambda a: (), "dtype": np.float64}
        rows = {"mean": Call(self._call("mean", kind, **one))}
        if unit(kind) == "f32":
            rows["sobel magnitude"] = Call(self._call("sobel magnitude", kind))
            return rows
        rows["sobel magnitude"] = Call(self._call("sobel magnitude", kind, dtype=np.int16), off=1)
        rows["canny"] = Call(self._call("canny", kind), note="other thresholds, no gaussian")
        rows["histogram"] = Call(self._call("histogram", kind, shape=lambda a: (256,),
                                            dtype=np.int32))
        return rows

    def _colours(self, kind):
        rows = {"rgb to gray": Call(self._call("rgb to gray", kind, shape=lambda a: a.shape[:2]))}
        if unit(kind) == "u8":
            rows["rgb to hsv"] = Call(self._call("rgb to hsv", kind), note="codes of its own")
            rows["rgb to ycbcr"] = Call(self._call("rgb to ycbcr", kind))
        return rows

    def _geometry(self, kind):
        def scaled(factor):
            return lambda a: (int(a.shape[0] * factor), int(a.shape[1] * factor), *a.shape[2:])

        affine = np.ascontiguousarray(AFFINE)
        return {
            "resize 0.5 bilinear": Call(self._call("resize 0.5 bilinear", kind, scaled(0.5)),
                                        note="means of squares of 2x2"),
            "resize 2 bilinear": Call(self._call("resize 2 bilinear", kind, scaled(2))),
            "resize 2 bicubic": Call(self._call("resize 2 bicubic", kind, scaled(2)),
                                     note="another kernel"),
            "rotate 30 bilinear": Call(self._call("warp", kind, matrix=turn)),
            "affine warp bilinear": Call(self._call("warp", kind, matrix=lambda size: affine)),
        }
