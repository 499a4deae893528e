"""The accuracy that `impipe ops` states of each operator, against its definition in double.

Values of single lie about 0, 10, 1,000 and 100,000, where float32 holds two digits of their noise;
codes at both ends of their class; and windows stand on each side of every switch of method. A row
has the number that the operator's statement has: one changes with the other.
"""
import json
import math
import os
import unittest

import numpy as np

from program import PROGRAM, ProgramTest

import definitions as d
import definitions_colour as c
import definitions_places as places

SHAPE = (41, 37)
OFFSETS = (0, 10, 1000, 100_000)
# At a tie the definition is as near to a half as float32 is to a value of this class.
TIE = 4e-6


def images(channels=1):
    """By name: noise of 0.2 about each offset, of 120 codes (bytes: 20) at both ends."""
    rng = np.random.default_rng(49)
    shape = SHAPE if channels == 1 else (*SHAPE, channels)
    made = {f"single_{o}": (o + rng.uniform(-0.1, 0.1, shape)).astype(np.float32) for o in OFFSETS}
    for cls, codes in (("uint8", 20), ("uint16", 120)):
        noise = rng.integers(0, codes + 1, shape)
        made[cls + "_low"] = noise.astype(cls)
        made[cls + "_high"] = (d.WHITE[cls] - noise).astype(cls)
    return made


GRAY, COLOUR = images(), images(3)


def ones(rows, columns=None):
    return np.ones((rows, columns or rows))


def box(rows, columns=None):
    return ones(rows, columns) / (rows * (columns or rows))


def disk(radius):
    """fspecial's: parts of pixels that lie in the disk. Here by many points a pixel."""
    import definitions_projections
    return definitions_projections.fspecial("disk", radius=radius)


class Row:
    """text: the stage. expected: of an image, in its own units. stated: as the operator says, of the
    larger of white and the image's largest value, to a power for formulas with one, `gain` times, or
    of a result that is larger; above: for values above white, where that is stated apart.
    single_result: of codes, too."""

    def __init__(self, text, expected, stated, gain=1.0, single_result=False, colour=False, op="",
                 above=None, power=1):
        self.op, self.text, self.expected = op or text.split()[0], text, expected
        self.stated, self.gain, self.single_result, self.colour = stated, gain, single_result, colour
        self.above, self.power = above, power

    def white(self, a):
        return d.WHITE[d.class_of(a)]

    def problem(self, a, got):
        want = np.asarray(self.expected(a), np.float64)
        if want.shape != got.shape:
            return f"shape {got.shape} instead of {want.shape}"
        got = got.astype(np.float64)
        if a.dtype != np.float32 and not self.single_result:
            white = self.white(a)
            codes = d.cast(want, d.class_of(a)).astype(np.float64)
            ties = np.abs(np.abs(np.clip(want, 0, white) - np.floor(np.clip(want, 0, white))) - 0.5)
            wrong = np.abs(got - codes)
            wrong[(wrong == 1) & (ties <= TIE * white * self.gain)] = 0
            return f"{np.count_nonzero(wrong)} codes wrong, by {wrong.max():g}" if wrong.any() else ""
        largest = max(self.white(a), float(np.abs(a.astype(np.float64)).max()))
        stated = self.above if self.above and largest > self.white(a) else self.stated
        allowed = stated * np.maximum(largest ** self.power * self.gain, np.abs(want))
        off = np.abs(got - want)
        if not (off <= allowed).all():
            return f"off by {np.nanmax(off):.3g}, {np.isnan(off).sum()} NaN; stated {allowed.max():.3g}"
        return ""


def local(stage, function, *arguments, **how):
    return Row(stage, lambda a: d.each_plane(lambda p: function(p, *arguments), a), **how)


def filtered(stage, kernel, border="replicate", **how):
    kernel = np.atleast_2d(np.asarray(kernel, np.float64))
    return local(stage, lambda p: d.correlate(p, kernel, border), gain=np.abs(kernel).sum(), **how)


def gaussian(stage, sigma):
    side = 2 * int(np.ceil(2 * sigma)) + 1
    return filtered(stage, d.gaussian(side, side, sigma), stated=1e-6)


def of_colour(stage, function, stated, **how):
    return Row(stage, function, stated, colour=True, **how)


def of_unit(function):
    return lambda a: function(a) * d.WHITE[d.class_of(a)]


# Sums in whole numbers from 10 cells of codes on; 256 and 1,024 cells; transforms from 576 weights;
# columns of a deviation up to 124, exact sums of bytes to 31x31; windows of a bilateral filter that
# are written out, and the reaches to which others are made ready.
FILTERS = [
    *[filtered(f"imboxfilt {n}", box(n), stated=1e-6) for n in (3, 5, 15, 33)],
    *[filtered(f"imfilter fspecial:average,{n} replicate", box(n), stated=1e-6) for n in (3, 4, 33)],
    filtered("imfilter [1 2 3; 0 -1 0; 0 0 -4] replicate", [[1, 2, 3], [0, -1, 0], [0, 0, -4]],
             stated=1e-6),
    *[filtered(f"imfilter fspecial:disk,{radius} replicate method={how}", disk(radius), stated=stated)
      for radius, how, stated in ((5, "direct", 1e-6), (13, "direct", 4e-6), (13, "fft", 1e-6))],
    *[gaussian(f"imgaussfilt {sigma}", sigma) for sigma in (0.5, 2, 9)],
    local("conv2 k7", lambda p: d.conv2(p, d.gaussian(7, 7, 7 / 6), "same"), stated=1e-6, single_result=True),
    local("filter2 [1 2 3; 0 -1 0]", lambda p: d.conv2(p, np.array([[0, -1, 0], [3, 2, 1.0]]), "same"),
          stated=1e-6, gain=7, single_result=True),
    *[local(f"stdfilt rectangle,{m},{n}", c.stdfilt, ones(m, n), stated=1e-5, single_result=True)
      for m, n in ((3, 3), (5, 5), (31, 31), (32, 32), (3, 124), (3, 125))],
    *[local(f"stdfilt disk,{r}", c.stdfilt, d.element("disk", r), stated=1e-5, single_result=True)
      for r in (2, 6, 7)],
    local("entropyfilt", c.entropyfilt, ones(9), stated=1e-6, single_result=True),
    *[Row(f"imbilatfilt size={n}",
          lambda a, n=n: c.imbilatfilt(a, 0.01 * d.WHITE[d.class_of(a)] ** 2, 1, n), 1e-5)
      for n in (3, 9, 11, 13, 25, 27)],
    *[Row(f"imguidedfilter size={m},{n}",
          lambda a, m=m, n=n: c.imguidedfilter(a, a, (m, n), 0.01 * d.WHITE[d.class_of(a)] ** 2), 1e-6)
      for m, n in ((3, 3), (32, 32), (32, 33), (1, 255))],
    *[Row(f"imguidedfilter size={m},{n} smoothing=400",
          lambda a, m=m, n=n: c.imguidedfilter(a, a, (m, n), 400), 1e-6)
      for m, n in ((5, 5), (32, 32), (33, 33))],
    *[Row(f"as a | fliplr | as g | map 'a' | imguidedfilter guide=:g size={n} smoothing=0.003",
          lambda a, n=n: c.imguidedfilter(a, a[:, ::-1], (n, n), 0.003), 1e-6, op="imguidedfilter")
      for n in (5, 32, 33)],
    *[Row(f"wiener2 {m},{n} noise={noise}",
          lambda a, m=m, n=n, noise=noise: c.wiener2(a, (m, n), None if noise == "auto" else noise),
          1e-6)
      for m, n in ((3, 3), (16, 16), (16, 17), (33, 33)) for noise in ("auto", 3e-7)],
    *[Row(f"imsharpen {r}", lambda a, r=r: c.imsharpen(a, r, 0.8, 0), 1e-5)
      for r in (1, 4)],
]

def gradient(a):
    x = a.astype(np.float64)
    return np.hypot(d.conv2(x, SOBEL.T, "same"), d.conv2(x, SOBEL, "same"))


SOBEL = d.GRADIENTS["sobel"]
GRAY_WEIGHTS = np.array([0.298936, 0.587043, 0.114021])
MAP = np.array([[1, 0.2, 3], [0.1, 0.9, 1], [0, 0, 1.0]])
POINTS = [
    *[of_colour(op, lambda a: a @ GRAY_WEIGHTS, 2e-7) for op in ("rgb2gray", "im2gray")],
    of_colour("rgb2hsv", c.rgb2hsv, 1e-6, single_result=True),
    of_colour("rgb2xyz", c.rgb2xyz, 1e-6, single_result=True, above=3e-6, power=2.4),
    of_colour("rgb2lab", c.rgb2lab, 1e-3, single_result=True),
    of_colour("rgb2ycbcr", of_unit(lambda a: c.rgb2ycbcr(a, 601)), 1e-6),
    of_colour("ycbcr2rgb", of_unit(lambda a: c.ycbcr2rgb(a, 601)), 1e-6, gain=3),
    local("lin2rgb", of_unit(lambda a: c.from_light(d.unit(a))), stated=1e-6),
    local("rgb2lin", of_unit(lambda a: c.to_light(d.unit(a))), stated=1e-6, above=2e-6,
          power=2.4),
    local("im2double", d.unit, stated=6e-8, single_result=True),
    local("mat2gray", lambda a: (a.astype(float) - a.min()) / (float(a.max()) - float(a.min())),
          stated=2e-7, single_result=True),
    local("imadjust 0.1,0.9 gamma=0.8",
          of_unit(lambda a: ((np.clip(d.unit(a), 0.1, 0.9) - 0.1) / 0.8) ** 0.8), stated=2e-6),
    local("gamma 0.5", of_unit(lambda a: np.sqrt(np.clip(d.unit(a), 0, 1))), stated=2e-6),
    Row("as a | fliplr | as b | map 'a' | imblend :b alpha=0.3",
        lambda a: a * 0.7 + a[:, ::-1] * 0.3, 1e-7, op="imblend"),
    local("imgradient", gradient, stated=1e-6, gain=8, single_result=True),
    local("imgradientxy", lambda a: d.conv2(a, SOBEL.T, "same"), stated=1e-6, gain=8,
          single_result=True),
]
PLACES = [
    *[local(f"imresize {scale} bilinear", d.resized, size, (scale, scale), "bilinear", stated=1e-6)
      for scale, size in ((0.5, (21, 19)), (1.7, (70, 63)))],
    local("imrotate 33 bicubic crop", lambda p: places.imrotate(p, 33, "bicubic", False, 0.0),
          stated=1e-6, gain=1.6),
    local("imtranslate 2.25,-1.5 bilinear",
          lambda p: places.imtranslate(p, 2.25, -1.5, "bilinear", False, 0.0), stated=1e-6),
    local("imwarp [1 0.2 3; 0.1 0.9 1] bilinear",
          lambda p: places.projected(p, MAP, "bilinear", SHAPE, 0.0), stated=1e-6),
    local("radon 0:30:150", lambda p: d.radon(p, range(0, 151, 30)), stated=1e-6, gain=60,
          single_result=True),
]

def mean(a):
    return math.fsum(a.astype(np.float64).reshape(-1)) / a.size


def deviation(a):
    apart = a.astype(np.float64).reshape(-1) - mean(a)
    return math.sqrt(math.fsum(apart ** 2) / (a.size - 1))


# Numbers of an image and its mirror image; what they may be off by, and for values up to how many
# white.
BESIDE = "as a | fliplr | as b | map 'a' | "
NUMBERS = {
    "mean2": ("mean2", mean, 1e-15, math.inf),
    "std2": ("std2", deviation, 1e-14, math.inf),
    "immse": (BESIDE + "immse :b",
              lambda a: np.mean((a.astype(np.float64) - a[:, ::-1]) ** 2), 1e-7, math.inf),
    "psnr": (BESIDE + "psnr :b", lambda a: c.psnr(a, a[:, ::-1]), 1e-6, math.inf),
    "corr2": (BESIDE + "corr2 :b", lambda a: c.corr2(a, a[:, ::-1]), 1e-7, math.inf),
    "ssim": (BESIDE + "ssim :b", lambda a: c.ssim(a, a[:, ::-1], 1.5), 1e-5, 100),
}

# Whose results are bins, objects or whole pixels that a rounding moves, or that are made of no
# image: other tests have their definitions.
ELSEWHERE = {"adapthisteq", "bwdist", "edge", "fspecial", "histeq", "histogram", "hsv2rgb", "im2single",
             "imbinarize", "imextendedmax", "imextendedmin", "imhistmatch", "imhmax", "imhmin",
             "imimposemin", "imnoise", "imoverlay", "iradon", "lab2rgb", "label2rgb", "ind2rgb", "map", "multithresh",
             "noise", "project", "reduce", "regionprops", "stack", "stats", "stencil", "sum", "temporal",
             "xyz2rgb"}
ELSEWHERE |= {"imtile", "montage"}  # test_page_operations.py
ELSEWHERE |= {"icc", "lut3d", "ocio"}  # test_colour.py
ELSEWHERE |= {"deskew"}  # test_measured_arguments.py
ELSEWHERE |= {"bwdist3", "bwlabeln", "imboxfilt3", "imclose3", "imdilate3", "imerode3",
              "imgaussfilt3", "imopen3", "imresize3", "medfilt3", "regionprops3"}  # test_volumes.py
ELSEWHERE |= {"bwboundaries", "bwconvhull", "bwskel", "convexhull", "hough", "houghlines", "houghpeaks",
              "imfindcircles", "poly2mask", "polygonize", "regionfill", "roifill",
              "roipoly"}  # test_outlines.py
ELSEWHERE |= {"deconvlucy", "deconvwnr", "edgetaper", "freqfilt", "imregcorr", "normxcorr2",
              "psf2otf"}  # test_frequency.py
ELSEWHERE |= {"block", "dct2", "deskewangle", "entropy", "fft2", "fftshift", "fitgeotform2d",
              "graycomatrix", "graycoprops", "idct2", "ifft2", "ifftshift", "imflatfield", "niblack",
              "rgb2ind", "rollingball", "sauvola", "wolf"}  # test_page_operations.py


class Accuracy(ProgramTest):
    def save(self, made):
        for name, a in made.items():
            np.save(self.path(name + ".npy"), a)
        return [name + ".npy" for name in made]

    def check(self, rows):
        for number, row in enumerate(rows):
            folder, made = str(number), COLOUR if row.colour else GRAY
            self.impipe(row.text, *self.save(made), "-o", folder + "/{stem}.npy")
            for name, a in made.items():
                problem = row.problem(a, np.load(self.path(folder, name + ".npy")))
                with self.subTest(stage=row.text, image=name):
                    self.assertEqual(problem, "")

    def test_filters(self):
        self.check(FILTERS)

    def test_points(self):
        self.check(POINTS)

    def test_moved_pixels(self):
        self.check(PLACES)

    def test_numbers(self):
        files = self.save(GRAY)
        for op, (text, expected, stated, most) in NUMBERS.items():
            lines = self.impipe(text, *files).lines()
            for line, (name, a) in zip(lines[-len(GRAY):], GRAY.items()):
                if a.max() > most * d.WHITE[d.class_of(a)]:
                    continue
                with self.subTest(op=op, image=name):
                    got, want = float(line.split("\t")[-1]), expected(a)
                    self.assertLessEqual(abs(got - want), stated * max(abs(want), 1e-300), (got, want))

    def test_every_statement_has_a_row(self):
        rows = {}
        for row in [*FILTERS, *POINTS, *PLACES]:
            rows.setdefault(row.op, set()).update({row.stated, row.above or row.stated})
        rows.update({op: {stated} for op, (_, _, stated, _) in NUMBERS.items()})
        for op in json.loads(self.impipe("ops", "--json").out):
            stated = op["accuracy"]
            with self.subTest(op=op["name"]):
                if stated == "exact":
                    self.assertNotIn(op["name"], rows)
                    continue
                self.assertIn(op["name"], rows.keys() | ELSEWHERE)
                for number in rows.get(op["name"], ()):
                    self.assertIn(f"{number:.0e}".replace("e-0", "e-"), stated)


if __name__ == "__main__":
    unittest.main()
