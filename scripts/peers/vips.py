"""libvips through pyvips, with all its threads: pictures in memory, results written to memory."""
import math

import numpy as np
import pyvips

from peers import Call
from peers.clocks import WallClock
from peers.table import AFFINE, KERNEL, KERNEL_SUM, colour, unit


class Peer:
    where = "cpu"

    def __init__(self):
        pyvips.cache_set_max(0)  # each call computes
        self.clock = WallClock()
        self.held = []

    def version(self):
        numbers = ".".join(str(pyvips.version(i)) for i in range(3))
        return f"vips {numbers}, pyvips {pyvips.__version__}"

    def put(self, array):
        if array.dtype == np.bool_:
            array = array.astype(np.uint8) * 255
        self.held = [*self.held[-3:], array]  # which vips reads without holding it
        return pyvips.Image.new_from_array(array)

    def get(self, result):
        return result.numpy() if isinstance(result, pyvips.Image) else np.asarray(result)

    def calls(self, kind):
        def made(work, **more):
            """vips computes when its result is asked for."""
            return Call(lambda a, b: work(a, b).copy_memory(), **more)

        if kind == "mask":
            return {"label": made(lambda a, b: a.labelregions(),
                                  note="by sides alone, the background as well")}
        if kind in ("labels", "relief"):
            return {}
        weights = pyvips.Image.new_from_array((KERNEL / KERNEL_SUM).tolist())
        calls = {f"median {k}x{k}": made(lambda a, b, k=k: a.median(k)) for k in (3, 5, 7, 15)}
        calls.update({f"gaussian, sigma {s}": made(
            lambda a, b, s=s: a.gaussblur(s, precision="float"), note="cut off elsewhere")
            for s in (1, 2, 5)})
        calls["filter 7x7"] = made(lambda a, b: a.conv(weights, precision="float"))
        calls["weighted sum of two"] = made(lambda a, b: a * 0.5 + b * 0.3)
        if unit(kind) == "u8":
            calls["dilate square 5"] = made(lambda a, b: a.rank(5, 5, 24))
            table = np.floor(np.clip((np.arange(256) / 255 - 0.2) / 0.6, 0, 1) * 255 + 0.5)
            curve = pyvips.Image.new_from_array(table.astype(np.uint8)[None, :])
            calls["stretch"] = made(lambda a, b: a.maplut(curve))
        calls.update(self._geometry(made))
        calls.update(self._colours(kind, made) if colour(kind) else self._gray(kind, made))
        return calls

    def _gray(self, kind, made):
        calls = {"mean": Call(lambda a, b: a.avg()),
                 "sobel magnitude": made(lambda a, b: a.sobel(), note="its own scale")}
        if unit(kind) == "u8":
            calls["histogram"] = made(lambda a, b: a.hist_find())
            calls["equalise"] = made(lambda a, b: a.hist_equal(), note="256 levels of bytes")
            calls["canny"] = made(lambda a, b: a.canny(sigma=math.sqrt(2)),
                                  note="strengths, no thresholds")
        return calls

    def _colours(self, kind, made):
        if unit(kind) != "u8":
            return {}
        return {"rgb to gray": made(lambda a, b: a.colourspace("b-w"), note="linear light"),
                "rgb to hsv": made(lambda a, b: a.copy(interpretation="srgb").colourspace("hsv"),
                                   note="codes of its own"),
                "rgb to lab": made(lambda a, b: a.copy(interpretation="srgb").colourspace("lab"),
                                   note="its own white")}

    def _geometry(self, made):
        inverse = AFFINE[:, :2]
        matrix = [float(v) for v in inverse.ravel()]

        def warped(a):
            return a.affine(matrix, odx=float(AFFINE[0, 2]), ody=float(AFFINE[1, 2]),
                            oarea=[0, 0, a.width, a.height],
                            interpolate=pyvips.Interpolate.new("bilinear"))

        def turned(a):
            cos, sin = math.cos(math.pi / 6), math.sin(math.pi / 6)
            x, y = (a.width - 1) / 2, (a.height - 1) / 2
            return a.affine([cos, sin, -sin, cos], odx=x - cos * x - sin * y,
                            ody=y + sin * x - cos * y, oarea=[0, 0, a.width, a.height],
                            interpolate=pyvips.Interpolate.new("bilinear"))

        return {
            "resize 0.5 bilinear": made(lambda a, b: a.resize(0.5, kernel="linear")),
            "resize 2 bilinear": made(lambda a, b: a.resize(2, kernel="linear"),
                                      note="a step of 1/64"),
            "resize 2 bicubic": made(lambda a, b: a.resize(2, kernel="cubic"),
                                     note="a step of 1/64"),
            "rotate 30 bilinear": made(lambda a, b: turned(a)),
            "affine warp bilinear": made(lambda a, b: warped(a)),
            "transpose": made(lambda a, b: a.rot90().fliphor()),
        }
