"""Camera raw pictures as DNGs, tag by tag: for tests and campaigns."""
import numpy as np

from tiff_writer import page, tiff


def text(words):
    return [*words.encode(), 0]


def mosaic(height, width, seed=0):
    """A sensor's values under red, green and blue filters: smooth, with noise."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width] / 40.0
    planes = [2500 + 1200 * np.sin(x + c) + 900 * np.cos(y * (c + 1) / 2) for c in range(3)]
    which = np.array([[0, 1], [1, 2]])[np.arange(height)[:, None] % 2, np.arange(width) % 2]
    return (np.choose(which, planes) + rng.normal(0, 9, (height, width))).clip(0, 8191).astype(np.uint16)


def dng(values, orientation=1, order="<", tags=()):
    """A DNG without compression of a camera that sees sRGB's colours."""
    srgb = [32406, -15372, -4986, -9689, 18758, 415, 557, -2040, 10570]
    matrix = [number for value in srgb for number in (value, 10000)]
    own = [(254, 4, [0]), (271, 2, text("Maker")), (272, 2, text("Camera 1")),
           (274, 3, [orientation]), (306, 2, text("2026:11:25 12:00:00")),
           (33421, 3, [2, 2]), (33422, 1, [0, 1, 1, 2]), (50706, 1, [1, 4, 0, 0]),
           (50707, 1, [1, 1, 0, 0]), (50708, 2, text("Maker Camera 1")), (50714, 3, [256]),
           (50717, 4, [8191]), (50721, 10, matrix), (50728, 5, [10, 17, 1, 1, 10, 14]),
           (50778, 3, [21])]
    return tiff(page(values, photometric=32803, order=order, tags=[*own, *tags]))
