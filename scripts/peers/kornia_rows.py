"""The rows of kornia-rs, whose functions take arrays of the host and images of the card alike."""
import math

import kornia_rs
import numpy as np

from peers import Call
from peers.table import AFFINE, BILATERAL, BILATERAL_SIGMA, colour, unit

imgproc = kornia_rs.imgproc


def kornia_calls(kind, on_card):
    """on_card: the functions that have kernels for the card alone."""
    if kind == "mask":
        return {"label": Call(lambda a, b: imgproc.connected_components(a, 8)[1])}
    if kind in ("labels", "relief"):
        return {}
    calls = _geometry(kind, on_card)
    if unit(kind) == "u8":
        calls.update(_filters_of_bytes(kind, on_card))
        calls.update({} if colour(kind) else _gray_bytes())
    if colour(kind):
        calls.update(_colours(kind))
    return calls


def _gaussian(sigma):
    side = 2 * math.ceil(2 * sigma) + 1
    return Call(lambda a, b: imgproc.gaussian_blur(a, (side, side), (sigma, sigma)))


def _filters_of_bytes(kind, on_card):
    def dilate(kernel, side):
        return Call(lambda a, b: imgproc.dilate(a, kernel, (side, side), "replicate"))

    def opening(a, side):
        low = imgproc.erode(a, "box", (side, side), "replicate")
        return imgproc.dilate(low, "box", (side, side), "replicate")

    near = math.sqrt(BILATERAL["u8"])
    calls = {
        "median 3x3": Call(lambda a, b: imgproc.median_blur(a, 3)),
        "median 5x5": Call(lambda a, b: imgproc.median_blur(a, 5)),
        "dilate square 5": dilate("box", 5), "dilate square 31": dilate("box", 31),
        "open square 15": Call(lambda a, b: opening(a, 15)),
    }
    if not colour(kind):
        calls["bilateral 5x5"] = Call(
            lambda a, b: imgproc.bilateral_filter(a, 5, near, BILATERAL_SIGMA),
            note="a disc of pixels")
    if not on_card:
        calls.update({f"gaussian, sigma {s}": _gaussian(s) for s in (1, 2, 5)})
        calls["box 9x9"] = Call(lambda a, b: imgproc.box_blur(a, (9, 9)))
    if not on_card and colour(kind):
        calls["weighted sum of two"] = Call(lambda a, b: imgproc.add_weighted(a, 0.5, b, 0.3, 0))
    return calls


def _gray_bytes():
    return {
        "canny": Call(lambda a, b: imgproc.canny(a, 40, 100), note="other thresholds"),
        "histogram": Call(lambda a, b: imgproc.compute_histogram(a, 256)),
        "equalise": Call(lambda a, b: imgproc.equalize_hist(a), note="256 levels of bytes"),
        "clahe": Call(lambda a, b: imgproc.clahe(a, 2.56, (8, 8)),
                      note="frames tiles in another way"),
    }


def _colours(kind):
    if unit(kind) == "u8":
        return {"rgb to gray": Call(lambda a, b: imgproc.gray_from_rgb(a))}
    return {"rgb to hsv": Call(lambda a, b: imgproc.hsv_from_rgb(a), note="codes of its own"),
            "rgb to lab": Call(lambda a, b: imgproc.lab_from_rgb(a)),
            "rgb to ycbcr": Call(lambda a, b: imgproc.ycbcr_from_rgb(a), note="the full range")}


def _geometry(kind, on_card):
    if unit(kind) == "f32" and (not on_card or kind == "gray-f32"):
        return {}

    def resized(factor, method, smooth=False):
        def run(a, b):
            shape = (int(a.shape[0] * factor), int(a.shape[1] * factor))
            return imgproc.resize(a, shape, method, smooth)
        return run

    def warped(a, matrix):
        return imgproc.warp_affine(a, matrix, (a.shape[0], a.shape[1]), "bilinear")

    def turned(a):
        cos, sin = math.cos(math.pi / 6), math.sin(math.pi / 6)
        x, y = (a.shape[1] - 1) / 2, (a.shape[0] - 1) / 2
        return warped(a, [cos, sin, x - cos * x - sin * y, -sin, cos, y + sin * x - cos * y])

    calls = {}
    if on_card or colour(kind):
        calls = {"resize 0.5 bilinear": Call(resized(0.5, "bilinear"), note="no antialiasing"),
                 "resize 2 bilinear": Call(resized(2, "bilinear"))}
    if calls and unit(kind) == "u8":
        calls["resize 2 bicubic"] = Call(resized(2, "bicubic"), note="another kernel")
    if not on_card or kind == "rgb-f32":
        matrix = [float(v) for v in np.asarray(AFFINE).ravel()]
        calls["rotate 30 bilinear"] = Call(lambda a, b: turned(a))
        calls["affine warp bilinear"] = Call(lambda a, b: warped(a, matrix))
    return calls
