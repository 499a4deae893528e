"""OpenCV on the CPU, with all its threads."""
import math

import cv2
import numpy as np

from peers import Call
from peers.clocks import WallClock
from peers.table import (AFFINE, BILATERAL, BILATERAL_SIGMA, KERNEL, KERNEL_SUM, PICTURES, colour,
                         unit)

REPLICATE = cv2.BORDER_REPLICATE


def disk(radius):
    y, x = np.mgrid[-radius:radius + 1, -radius:radius + 1]
    return (x * x + y * y <= radius * radius).astype(np.uint8)


def square(side):
    return np.ones((side, side), np.uint8)


def deviation(image, side=9):
    """Of the sample, as stdfilt has it."""
    values = image.astype(np.float64) if image.dtype == np.uint8 else image
    count = side * side
    mean = cv2.boxFilter(values, cv2.CV_64F, (side, side), borderType=cv2.BORDER_REFLECT)
    squares = cv2.sqrBoxFilter(values, cv2.CV_64F, (side, side), borderType=cv2.BORDER_REFLECT)
    return np.sqrt(np.maximum(squares - mean * mean, 0) * (count / (count - 1)))


def canny(image):
    smooth = cv2.GaussianBlur(image, (9, 9), math.sqrt(2), borderType=REPLICATE)
    return cv2.Canny(smooth, 40, 100)


def ssim(a, b):
    white = 255 if a.dtype == np.uint8 else 1
    c1, c2 = (0.01 * white) ** 2, (0.03 * white) ** 2

    def blur(x):
        return cv2.GaussianBlur(x, (11, 11), 1.5, borderType=REPLICATE)

    x, y = a.astype(np.float32), b.astype(np.float32)
    mx, my = blur(x), blur(y)
    sx, sy, sxy = blur(x * x) - mx * mx, blur(y * y) - my * my, blur(x * y) - mx * my
    part = (2 * mx * my + c1) * (2 * sxy + c2) / ((mx * mx + my * my + c1) * (sx + sy + c2))
    return np.array(part.mean(dtype=np.float64))


def turned(image):
    height, width = image.shape[:2]
    turn = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), 30, 1)
    return cv2.warpAffine(image, turn, (width, height), flags=cv2.INTER_LINEAR)


def watershed(relief):
    """From the minima, which OpenCV has to be given."""
    low = (relief == 0).astype(np.uint8)
    markers = cv2.connectedComponents(low)[1]
    return cv2.watershed(cv2.cvtColor(relief, cv2.COLOR_GRAY2BGR), markers)


def stretched(image):
    if image.dtype == np.uint8:
        table = np.floor(np.clip((np.arange(256) / 255 - 0.2) / 0.6, 0, 1) * 255 + 0.5)
        return cv2.LUT(image, table.astype(np.uint8))
    return np.clip(cv2.addWeighted(image, 1 / 0.6, image, 0, -0.2 / 0.6), 0, 1)


class Peer:
    where = "cpu"

    def __init__(self):
        self.clock = WallClock()

    def version(self):
        return f"OpenCV {cv2.__version__}, {cv2.getNumThreads()} threads"

    def put(self, array):
        return array.astype(np.uint8) if array.dtype == np.bool_ else array

    def get(self, result):
        return np.asarray(result)

    def calls(self, kind):
        if kind == "mask":
            return self._of_masks()
        if kind == "labels":
            return {"regionprops of 10,000": Call(
                lambda a, b: cv2.connectedComponentsWithStats((a > 0).astype(np.uint8), ltype=4),
                note="areas, boxes and centroids alone, labelling as well")}
        if kind == "relief":
            return {"watershed, 10,000 basins": Call(
                lambda a, b: watershed(a), note="markers are given, lines elsewhere")}
        calls = {**self._filters(kind), **self._geometry()}
        if colour(kind):
            calls.update(self._colours())
        else:
            calls.update(self._gray(kind))
        return calls

    def _of_masks(self):
        def distance(a):
            return cv2.distanceTransform(1 - a, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)

        return {"label": Call(lambda a, b: cv2.connectedComponents(a, connectivity=8)[1]),
                "distance": Call(lambda a, b: distance(a), off=0.02)}

    def _filters(self, kind):
        flipped = (KERNEL / KERNEL_SUM).astype(np.float32)

        def gaussian(sigma):
            side = 2 * math.ceil(2 * sigma) + 1
            return Call(lambda a, b: cv2.GaussianBlur(a, (side, side), sigma,
                                                      borderType=REPLICATE))

        def dilate(element):
            return Call(lambda a, b: cv2.dilate(a, element))

        def opening(element):
            return Call(lambda a, b: cv2.morphologyEx(a, cv2.MORPH_OPEN, element))

        near = math.sqrt(BILATERAL[unit(kind)])
        calls = {f"gaussian, sigma {s}": gaussian(s) for s in (1, 2, 5)}
        calls.update({f"median {k}x{k}": Call(lambda a, b, k=k: cv2.medianBlur(a, k))
                      for k in ((3, 5, 7, 15) if unit(kind) == "u8" else (3, 5))})
        calls.update({
            "box 9x9": Call(lambda a, b: cv2.blur(a, (9, 9), borderType=REPLICATE)),
            "filter 7x7": Call(lambda a, b: cv2.filter2D(a, -1, flipped,
                                                         borderType=cv2.BORDER_REFLECT)),
            "bilateral 5x5": Call(
                lambda a, b: cv2.bilateralFilter(a, 5, near, BILATERAL_SIGMA,
                                                 borderType=REPLICATE),
                note="a disc of pixels; one weight for all channels"),
            "dilate square 5": dilate(square(5)), "dilate square 31": dilate(square(31)),
            "dilate disk 5": dilate(disk(5)), "open square 15": opening(square(15)),
            "open disk 15": opening(disk(15)),
            "stretch": Call(lambda a, b: stretched(a)),
            "weighted sum of two": Call(lambda a, b: cv2.addWeighted(a, 0.5, b, 0.3, 0)),
            "transpose": Call(lambda a, b: cv2.transpose(a)),
        })
        return calls

    def _gray(self, kind):
        def sobel(a):
            return cv2.magnitude(cv2.Sobel(a, cv2.CV_32F, 1, 0), cv2.Sobel(a, cv2.CV_32F, 0, 1))

        calls = {"sobel magnitude": Call(lambda a, b: sobel(a)),
                 "standard deviation 9x9": Call(lambda a, b: deviation(a)),
                 "mean": Call(lambda a, b: np.array(cv2.mean(a)[0])),
                 "ssim": Call(lambda a, b: ssim(a, b))}
        if unit(kind) == "u8":
            clahe = cv2.createCLAHE(clipLimit=2.56, tileGridSize=(8, 8))
            calls.update({
                "canny": Call(lambda a, b: canny(a), note="other thresholds"),
                "histogram": Call(lambda a, b: cv2.calcHist([a], [0], None, [256], [0, 256])),
                "equalise": Call(lambda a, b: cv2.equalizeHist(a), note="256 levels of bytes"),
                "clahe": Call(lambda a, b: clahe.apply(a), note="frames tiles in another way"),
                "otsu's threshold": Call(
                    lambda a, b: np.array(cv2.threshold(a, 0, 255, cv2.THRESH_OTSU)[0] / 255)),
            })
        return calls

    def _colours(self):
        def converted(code):
            return lambda a, b: cv2.cvtColor(a, code)

        return {"rgb to gray": Call(converted(cv2.COLOR_RGB2GRAY)),
                "rgb to hsv": Call(converted(cv2.COLOR_RGB2HSV), note="codes of its own"),
                "rgb to lab": Call(converted(cv2.COLOR_RGB2LAB), note="codes of its own"),
                "rgb to ycbcr": Call(converted(cv2.COLOR_RGB2YCrCb), note="the full range")}

    def _geometry(self):
        def resized(factor, method):
            return lambda a, b: cv2.resize(a, None, fx=factor, fy=factor, interpolation=method)

        return {
            "resize 0.5 bilinear": Call(resized(0.5, cv2.INTER_LINEAR), note="no antialiasing"),
            "resize 2 bilinear": Call(resized(2, cv2.INTER_LINEAR)),
            "resize 2 bicubic": Call(resized(2, cv2.INTER_CUBIC), note="a = -0.75"),
            "rotate 30 bilinear": Call(lambda a, b: turned(a)),
            "affine warp bilinear": Call(lambda a, b: cv2.warpAffine(a, AFFINE, a.shape[1::-1])),
        }
