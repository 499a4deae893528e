"""CUB of the toolkit, by the calls of cub.cu, which nvcc compiles here."""
import ctypes

import cupy
import numpy as np

from peers import Call, compiled
from peers.clocks import CupyClock
from peers.table import colour, unit

SCRATCH = 256 << 20


class Peer:
    where = "cuda"

    def __init__(self):
        cupy.zeros(1).sum().item()  # fails where there is no card
        self.library = compiled.load("cub")
        pointer, whole, room = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
        self.library.cub_stretch.argtypes = [whole, pointer, pointer, whole, pointer]
        self.library.cub_sum_of_two.argtypes = [whole, pointer, pointer, pointer, whole, pointer]
        self.library.cub_total.argtypes = [whole, pointer, pointer, whole, pointer, room, pointer]
        self.library.cub_histogram.argtypes = [pointer, pointer, whole, pointer, room, pointer]
        self.clock = CupyClock()
        self.scratch = cupy.empty(SCRATCH, cupy.uint8)

    def version(self):
        version = self.library.cub_version()
        return f"CUB {version // 100000}.{version // 100 % 1000}.{version % 100}"

    def put(self, array):
        return cupy.asarray(array)

    def get(self, result):
        return cupy.asnumpy(result)

    def calls(self, kind):
        if unit(kind) not in ("u8", "f32"):
            return {}
        floats = int(unit(kind) == "f32")
        room = (self.scratch.data.ptr, SCRATCH)

        def done(error, out):
            if error:
                raise RuntimeError(f"CUB: CUDA's error {error}")
            return out

        def queue():
            return cupy.cuda.get_current_stream().ptr

        def stretch(a, b):
            out = cupy.empty_like(a)
            return done(self.library.cub_stretch(floats, a.data.ptr, out.data.ptr, a.size,
                                                 queue()), out)

        def added(a, b):
            out = cupy.empty_like(a)
            return done(self.library.cub_sum_of_two(floats, a.data.ptr, b.data.ptr, out.data.ptr,
                                                    a.size, queue()), out)

        def total(a, b):
            out = cupy.empty((), np.float32 if floats else np.uint32)
            return done(self.library.cub_total(floats, a.data.ptr, out.data.ptr, a.size, *room,
                                               queue()), out)

        def histogram(a, b):
            out = cupy.empty(256, np.int32)
            return done(self.library.cub_histogram(a.data.ptr, out.data.ptr, a.size, *room,
                                                   queue()), out)

        rows = {"stretch": Call(stretch), "weighted sum of two": Call(added)}
        if not colour(kind):
            rows["mean"] = Call(total, note="the sum alone")
        if kind == "gray-u8":
            rows["histogram"] = Call(histogram)
        return rows
