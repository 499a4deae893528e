"""Pillow on one core."""

import numpy as np
import PIL
from PIL import Image, ImageChops, ImageFilter, ImageOps

from peers import Call
from peers.clocks import WallClock
from peers.table import AFFINE, colour


class Peer:
    where = "cpu"

    def __init__(self):
        self.clock = WallClock()

    def version(self):
        return f"Pillow {PIL.__version__}"

    def put(self, array):
        return Image.fromarray(array)

    def get(self, result):
        return np.asarray(result)

    def calls(self, kind):
        if kind in ("mask", "labels", "relief", "rgb-f32"):
            return {}
        calls = self._geometry()
        if kind == "gray-f32":
            return calls
        for side in (3, 5, 7, 15):
            calls[f"median {side}x{side}"] = Call(
                lambda a, b, f=ImageFilter.MedianFilter(side): a.filter(f))
        calls["dilate square 5"] = Call(lambda a, b: a.filter(ImageFilter.MaxFilter(5)), margin=2)
        calls["box 9x9"] = Call(lambda a, b: a.filter(ImageFilter.BoxBlur(4)))
        for sigma in (1, 2, 5):
            calls[f"gaussian, sigma {sigma}"] = Call(
                lambda a, b, s=sigma: a.filter(ImageFilter.GaussianBlur(s)),
                note="three boxes instead")
        table = np.floor(np.clip((np.arange(256) / 255 - 0.2) / 0.6, 0, 1) * 255 + 0.5).tolist()
        calls["stretch"] = Call(lambda a, b: a.point(table * len(a.getbands())))
        calls["weighted sum of two"] = Call(
            lambda a, b: ImageChops.add(a.point(lambda v: v * 0.5), b.point(lambda v: v * 0.3)))
        calls["transpose"] = Call(lambda a, b: a.transpose(Image.Transpose.TRANSPOSE))
        if colour(kind):
            calls["rgb to gray"] = Call(lambda a, b: a.convert("L"))
            calls["rgb to hsv"] = Call(lambda a, b: a.convert("HSV"), note="codes of its own")
            calls["rgb to ycbcr"] = Call(lambda a, b: a.convert("YCbCr"), note="the full range")
        else:
            calls["histogram"] = Call(lambda a, b: a.histogram())
            calls["equalise"] = Call(lambda a, b: ImageOps.equalize(a), note="256 levels of bytes")
        return calls

    def _geometry(self):
        def resized(factor, method):
            return lambda a, b: a.resize((int(a.width * factor), int(a.height * factor)), method)

        inverse = np.linalg.inv(np.vstack([AFFINE, [0, 0, 1]]))
        # Its pixels' centres lie at halves.
        half = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
        moved = tuple((half @ inverse @ np.linalg.inv(half))[:2].ravel())
        method = Image.Resampling
        return {
            "resize 0.5 bilinear": Call(resized(0.5, method.BILINEAR)),
            "resize 2 bilinear": Call(resized(2, method.BILINEAR)),
            "resize 2 bicubic": Call(resized(2, method.BICUBIC)),
            "rotate 30 bilinear": Call(lambda a, b: a.rotate(30, method.BILINEAR)),
            "affine warp bilinear": Call(lambda a, b: a.transform(
                a.size, Image.Transform.AFFINE, moved, method.BILINEAR)),
        }
