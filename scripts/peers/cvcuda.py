"""CV-CUDA on CuPy's arrays."""
import contextlib
import math

import cupy
import cvcuda
import numpy as np

from peers import Call
from peers.clocks import CupyClock
from peers.table import AFFINE, BILATERAL, BILATERAL_SIGMA, colour, unit

REPLICATE = cvcuda.Border.REPLICATE


class Clock(CupyClock):
    """CV-CUDA's stream is CuPy's."""

    def start_again(self):
        super().start_again()
        self.queue = cvcuda.as_stream(self.stream.ptr)

    @contextlib.contextmanager
    def current(self):
        with self.stream, self.queue:
            yield

    def captured(self, work):
        with self.queue:
            return super().captured(work)


class Peer:
    where = "cuda"

    def __init__(self):
        cupy.zeros(1).sum().item()  # fails where there is no card
        self.clock = Clock()

    def version(self):
        return f"CV-CUDA {cvcuda.__version__}"

    def put(self, array):
        array = array.astype(np.uint8) if array.dtype == np.bool_ else array
        # One image of rows, columns and channels.
        held = cupy.asarray(array.reshape(1, *array.shape[:2], -1))
        cupy.cuda.Device().synchronize()
        return cvcuda.as_tensor(held, "NHWC")

    def get(self, result):
        cupy.cuda.Device().synchronize()
        found = cupy.asnumpy(cupy.asarray(result.cuda()))
        return found[0] if found.ndim == 4 else found

    def calls(self, kind):
        if kind == "mask":
            zero = cupy.zeros(1, cupy.uint8)
            background = cvcuda.as_tensor(zero, "N")
            return {"label": Call(lambda a, b: cvcuda.label(
                a, cvcuda.ConnectivityType.CONNECTIVITY_8_2D, bg_label=background)[0])}
        if kind in ("labels", "relief"):
            return {}
        calls = {**self._filters(kind), **self._geometry(kind)}
        calls.update(self._colours(kind) if colour(kind) else self._gray(kind))
        return calls

    def _filters(self, kind):
        def gaussian(sigma):
            side = 2 * math.ceil(2 * sigma) + 1
            return Call(lambda a, b: cvcuda.gaussian(a, (side, side), (sigma, sigma), REPLICATE))

        def dilate(side):
            return Call(lambda a, b: cvcuda.morphology(
                a, cvcuda.MorphologyType.DILATE, (side, side), (-1, -1), border=REPLICATE))

        def opening(a, side):
            kinds = cvcuda.MorphologyType
            low = cvcuda.morphology(a, kinds.ERODE, (side, side), (-1, -1), border=REPLICATE)
            return cvcuda.morphology(low, kinds.DILATE, (side, side), (-1, -1), border=REPLICATE)

        near = math.sqrt(BILATERAL[unit(kind)])
        calls = {f"median {k}x{k}": Call(lambda a, b, k=k: cvcuda.median_blur(a, (k, k)))
                 for k in (3, 5, 7, 15)}
        calls.update({f"gaussian, sigma {s}": gaussian(s) for s in (1, 2, 5)})
        calls.update({
            "box 9x9": Call(lambda a, b: cvcuda.averageblur(a, (9, 9), border=REPLICATE)),
            "bilateral 5x5": Call(
                lambda a, b: cvcuda.bilateral_filter(a, 5, near, BILATERAL_SIGMA, REPLICATE),
                note="a disc of pixels; one weight for all channels"),
            "dilate square 5": dilate(5), "dilate square 31": dilate(31),
            "open square 15": Call(lambda a, b: opening(a, 15)),
        })
        if unit(kind) == "u8":
            calls["stretch"] = Call(lambda a, b: cvcuda.convertto(
                a, cvcuda.Type.U8, 1 / 0.6, -51 / 0.6))
        return calls

    def _gray(self, kind):
        if unit(kind) != "u8":
            return {}
        return {
            "histogram": Call(lambda a, b: cvcuda.histogram(a)),
            "equalise": Call(lambda a, b: cvcuda.histogrameq(a, cvcuda.Type.U8),
                             note="256 levels of bytes"),
            "clahe": Call(lambda a, b: cvcuda.clahe(a, 2.56, (8, 8)),
                          note="frames tiles in another way"),
        }

    def _colours(self, kind):
        codes = cvcuda.ColorConversion
        return {
            "rgb to gray": Call(lambda a, b: cvcuda.cvtcolor(a, codes.RGB2GRAY)),
            "rgb to hsv": Call(lambda a, b: cvcuda.cvtcolor(a, codes.RGB2HSV),
                               note="codes of its own"),
            "rgb to lab": Call(lambda a, b: cvcuda.cvtcolor(a, codes.RGB2Lab),
                               note="codes of its own"),
            "rgb to ycbcr": Call(lambda a, b: cvcuda.cvtcolor(a, codes.RGB2YCrCb),
                                 note="the full range"),
        }

    def _geometry(self, kind):
        def resized(factor, method):
            def run(a, b):
                _, height, width, channels = a.shape
                shape = (1, int(height * factor), int(width * factor), channels)
                return cvcuda.resize(a, shape, method)
            return run

        def smooth(a):
            _, height, width, _ = a.shape
            return cvcuda.hq_resize(a, (height // 2, width // 2), antialias=True,
                                    interpolation=cvcuda.Interp.LINEAR)

        def turned(a):
            _, height, width, _ = a.shape
            cos, sin = math.cos(math.pi / 6), math.sin(math.pi / 6)
            x, y = (width - 1) / 2, (height - 1) / 2
            turn = np.array([[cos, sin, x - cos * x - sin * y],
                             [-sin, cos, y + sin * x - cos * y]], np.float32)
            return warped(a, turn)

        def warped(a, matrix):
            return cvcuda.warp_affine(a, matrix, cvcuda.Interp.LINEAR,
                                      border_mode=cvcuda.Border.CONSTANT, border_value=[0])

        affine = AFFINE.astype(np.float32)
        return {
            "resize 0.5 bilinear": Call(lambda a, b: smooth(a)),
            "resize 2 bilinear": Call(resized(2, cvcuda.Interp.LINEAR)),
            "resize 2 bicubic": Call(resized(2, cvcuda.Interp.CUBIC), note="a = -0.75"),
            "rotate 30 bilinear": Call(lambda a, b: turned(a)),
            "affine warp bilinear": Call(lambda a, b: warped(a, affine)),
        }
