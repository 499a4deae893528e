#!/usr/bin/env python3
"""Times impipe's CPU beside OpenCV over classes, channels and parameters, in turn, in one run.

    compare_opencv.py [--impipe PATH] [--match TEXT]... [--classes u8,u16,f32] [--channels 1,3]
                      [--threads 1,2] [--rounds N] [--size N] [--below RATIO] [--part I/N]

Operators that both define alike: decoded pixels to result, the shortest of several runs, which a
busy machine lengthens least. Ratio: OpenCV's time over impipe's; above 1 impipe is faster. Where
OpenCV takes no such class or channels there is no row. Results are compared first, away from the
edges where borders differ. Exit 1 when results disagree.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np

from make_samples import landscape, photograph, to_gray, to_integer
from run_cases import default_program

DTYPES = {"u8": np.uint8, "u16": np.uint16, "f32": np.float32}
WHITE = {"u8": 255, "u16": 65535, "f32": 1.0}
rng = np.random.default_rng(7)


def disk(radius):
    y, x = np.mgrid[-radius:radius + 1, -radius:radius + 1]
    return (x * x + y * y <= radius * radius).astype(np.uint8)


def square(side):
    return np.ones((side, side), np.uint8)


def rotated(image, flags):
    height, width = image.shape[:2]
    turn = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), 30, 1)
    return cv2.warpAffine(image, turn, (width, height), flags=flags)


def matrix(side):
    return np.round(rng.random((side, side)) + 0.1, 3)


def canny(image):
    smooth = cv2.GaussianBlur(image, (9, 9), math.sqrt(2), borderType=cv2.BORDER_REPLICATE)
    return cv2.Canny(smooth, 40, 100)


class Row:
    """off: how far codes may be apart (of floats: this share of white); share: how many may be
    further; margin: pixels at the edges where definitions differ; checked: whether the results are
    the same thing at all."""

    def __init__(self, name, pipeline, peer, classes="u8 u16 f32", channels=(1, 3), off=0.0,
                 share=0.0, margin=0, checked=True):
        self.name, self.pipeline, self.peer = name, pipeline, peer
        self.classes, self.channels = classes.split(), channels
        self.off, self.share, self.margin, self.checked = off, share, margin, checked


def rows():
    nearest, linear, cubic = cv2.INTER_NEAREST, cv2.INTER_LINEAR, cv2.INTER_CUBIC
    replicate = cv2.BORDER_REPLICATE
    for k in (3, 5, 7, 15, 31, 63):
        yield Row(f"box {k}", f"imfilter fspecial:average,{k} replicate",
                  lambda a, k=k: cv2.blur(a, (k, k), borderType=replicate), off=1)
    for k in (3, 5):
        yield Row(f"median {k}", f"medfilt2 {k}", lambda a, k=k: cv2.medianBlur(a, k),
                  margin=k // 2)
    for k in (7, 15, 31, 63):
        yield Row(f"median {k}", f"medfilt2 {k}", lambda a, k=k: cv2.medianBlur(a, k), "u8",
                  margin=k // 2)
    for k in (3, 5, 7, 15, 31, 63):
        yield Row(f"dilate {k}", f"imdilate square,{k}", lambda a, k=k: cv2.dilate(a, square(k)))
    for k in (3, 9, 25):
        yield Row(f"erode 1x{k}", f"imerode rectangle,1,{k}",
                  lambda a, k=k: cv2.erode(a, np.ones((1, k), np.uint8)))
    for r in (2, 5, 10, 15):
        yield Row(f"dilate disk {r}", f"imdilate disk,{r}",
                  lambda a, r=r: cv2.dilate(a, disk(r)))
    yield Row("open square 5", "imopen square,5",
              lambda a: cv2.morphologyEx(a, cv2.MORPH_OPEN, square(5)))
    for sigma in (0.5, 1, 2, 5, 10):
        side = 2 * math.ceil(2 * sigma) + 1
        yield Row(f"gaussian {sigma}", f"imgaussfilt {sigma}",
                  lambda a, s=sigma, k=side: cv2.GaussianBlur(a, (k, k), s, borderType=replicate),
                  off=1)
    for k in (3, 5, 7, 11, 15, 31):
        m = matrix(k)
        text = "[" + ";".join(" ".join(f"{v:g}" for v in row) for row in m) + f"]/{m.sum():.4f}"
        weights = (m / float(f"{m.sum():.4f}")).astype(np.float32)
        yield Row(f"filter {k}x{k}", f"imfilter {text} symmetric",
                  lambda a, w=weights: cv2.filter2D(a, -1, w, borderType=cv2.BORDER_REFLECT),
                  off=1)
    yield Row("sobel gradient", "imgradient sobel",
              lambda a: cv2.magnitude(cv2.Sobel(a, cv2.CV_32F, 1, 0),
                                      cv2.Sobel(a, cv2.CV_32F, 0, 1)), channels=(1,), margin=1,
              off=1e-3, checked=False)
    yield Row("canny", "edge canny", canny, "u8", channels=(1,), checked=False)
    for name, flags in (("nearest", nearest), ("bilinear", linear)):
        yield Row(f"rotate 30 {name}", f"imwarp rotate=30 {name}",
                  lambda a, f=flags: rotated(a, f), off=8, share=0.02)
    for scale in (0.5, 1.7, 2, 3):
        for name, flags in (("nearest", nearest), ("bilinear", linear), ("bicubic", cubic)):
            yield Row(f"resize {scale} {name}", f"imresize {scale} {name} antialiasing=off",
                      lambda a, f=flags, s=scale: cv2.resize(
                          a, (math.ceil(a.shape[1] * s), math.ceil(a.shape[0] * s)),
                          interpolation=f), checked=False)
    yield Row("fliplr", "fliplr", lambda a: cv2.flip(a, 1))
    yield Row("flipud", "flipud", lambda a: cv2.flip(a, 0))
    yield Row("rot90", "rot90", lambda a: cv2.rotate(a, cv2.ROTATE_90_COUNTERCLOCKWISE))
    yield Row("transpose", "transpose", cv2.transpose)
    yield Row("complement", "imcomplement", cv2.bitwise_not, "u8 u16")
    yield Row("threshold", "im2bw 0.5",
              lambda a: cv2.compare(a, 127.5 if a.dtype == np.uint8 else 32767.5
                                    if a.dtype == np.uint16 else 0.5, cv2.CMP_GT), channels=(1,))
    yield Row("lincomb", "as b | imlincomb 0.5 0.5 :b add=3", lambda a: cv2.addWeighted(a, 0.5, a, 0.5, 3), "u8 u16",
              off=1)
    yield Row("to single", "im2single", lambda a: np.multiply(
        a, np.float32(1) / (255 if a.dtype == np.uint8 else 65535), dtype=np.float32), "u8 u16",
              off=1e-6)
    yield Row("rgb2gray", "rgb2gray", lambda a: cv2.cvtColor(a, cv2.COLOR_RGB2GRAY), channels=(3,),
              off=1)
    yield Row("rgb2hsv", "rgb2hsv", lambda a: cv2.cvtColor(a, cv2.COLOR_RGB2HSV), "u8 f32",
              channels=(3,), checked=False)
    yield Row("rgb2lab", "rgb2lab", lambda a: cv2.cvtColor(a, cv2.COLOR_RGB2LAB), "u8 f32",
              channels=(3,), checked=False)
    yield Row("rgb2ycbcr", "rgb2ycbcr", lambda a: cv2.cvtColor(a, cv2.COLOR_RGB2YCrCb),
              channels=(3,), checked=False)
    yield Row("mean", "mean2", cv2.mean, channels=(1,), checked=False)
    yield Row("std", "std2", cv2.meanStdDev, channels=(1,), checked=False)
    yield Row("histogram", "imhist", lambda a: cv2.calcHist([a], [0], None, [256], [0, 256]), "u8",
              channels=(1,), checked=False)
    yield Row("equalize", "histeq", cv2.equalizeHist, "u8", channels=(1,), checked=False)
    yield Row("bilateral 5", "imbilatfilt 100 1",
              lambda a: cv2.bilateralFilter(a, 5, 25, 1), "u8 f32", channels=(1,), checked=False)
    yield Row("label", "im2bw 0.5 | bwlabel", lambda a: cv2.connectedComponents(
        cv2.threshold(a, 127, 1, cv2.THRESH_BINARY)[1])[1], "u8", channels=(1,), checked=False)
    yield Row("distance", "im2bw 0.5 | bwdist", lambda a: cv2.distanceTransform(
        cv2.threshold(a, 127, 1, cv2.THRESH_BINARY_INV)[1], cv2.DIST_L2, cv2.DIST_MASK_PRECISE),
              "u8", channels=(1,), checked=False)


class Side:
    """Pictures on disk for impipe, and the same pixels in memory for OpenCV."""

    def __init__(self, program, folder, size):
        self.program, self.folder = program, folder
        colour = photograph(landscape, 1, size, size, noise=0.03)
        self.pixels, self.paths = {}, {}
        for cls, white in WHITE.items():
            for channels, picture in ((1, to_gray(colour)), (3, colour)):
                pixels = picture.astype(np.float32) if cls == "f32" else to_integer(picture, white)
                path = os.path.join(folder, f"{cls}-{channels}.npy")
                np.save(path, np.ascontiguousarray(pixels.astype(DTYPES[cls])))
                self.pixels[cls, channels], self.paths[cls, channels] = np.load(path), path

    def impipe_ms(self, row, cls, channels, threads):
        said = subprocess.run([self.program, "bench", "--json", "--in-cache", "--device", "cpu", "-j",
                               str(threads), "--input", self.paths[cls, channels], row.pipeline],
                              check=True, capture_output=True, text=True).stdout
        return json.loads(said)["results"][0]["min_ms"]

    def opencv_ms(self, row, cls, channels, seconds=0.4):
        a = self.pixels[cls, channels]
        row.peer(a)
        least, runs, end = math.inf, 0, time.perf_counter() + seconds
        while runs < 5 or time.perf_counter() < end:
            start = time.perf_counter()
            row.peer(a)
            least, runs = min(least, time.perf_counter() - start), runs + 1
        return least * 1e3

    def disagreement(self, row, cls, channels):
        """What is wrong with impipe's result against OpenCV's; empty when nothing is."""
        output = os.path.join(self.folder, "result.npy")
        subprocess.run([self.program, row.pipeline, self.paths[cls, channels], "-o", output, "-q"],
                       check=True, stdout=subprocess.DEVNULL)
        ours, theirs = np.load(output), row.peer(self.pixels[cls, channels])
        if ours.dtype == np.bool_:
            theirs = theirs != 0
        ours, theirs = np.squeeze(ours).astype(float), np.squeeze(theirs).astype(float)
        if ours.shape != theirs.shape:
            return f"shapes {ours.shape} and {theirs.shape}"
        m = row.margin
        if m:
            ours, theirs = ours[m:-m, m:-m], theirs[m:-m, m:-m]
        off = row.off * WHITE[cls] / 255 if cls == "u16" and row.off > 1 else row.off
        off = row.off / 255 if cls == "f32" else off
        wrong = np.abs(ours - theirs) > off + 1e-5 * (cls == "f32")
        return "" if np.mean(wrong) <= row.share else f"{np.mean(wrong):.2%} differ"


def compare(side, chosen, options):
    wrong, ratios = 0, []
    print(f"{'operator':<22}{'class':>6}{'ch':>3}{'threads':>8}{'impipe ms':>11}{'OpenCV ms':>11}"
          f"{'ratio':>8}  agrees")
    for row in chosen:
        for cls in options.classes.split(","):
            for channels in map(int, options.channels.split(",")):
                if cls not in row.classes or channels not in row.channels:
                    continue
                try:
                    row.peer(side.pixels[cls, channels])
                except cv2.error:
                    continue
                problem = side.disagreement(row, cls, channels) if row.checked else ""
                wrong += bool(problem)
                for threads in map(int, options.threads.split(",")):
                    cv2.setNumThreads(threads)
                    ours = theirs = math.inf
                    for _ in range(options.rounds):
                        ours = min(ours, side.impipe_ms(row, cls, channels, threads))
                        theirs = min(theirs, side.opencv_ms(row, cls, channels))
                    ratios.append(theirs / ours)
                    if theirs / ours < options.below:
                        print(f"{row.name:<22}{cls:>6}{channels:>3}{threads:>8}{ours:>11.3f}"
                              f"{theirs:>11.3f}{theirs / ours:>8.2f}  "
                              f"{problem or ('yes' if row.checked else '-')}", flush=True)
    print(f"{len(ratios)} rows, geometric mean {math.exp(np.mean(np.log(ratios))):.2f}, "
          f"{sum(r < 1 for r in ratios)} slower than OpenCV {cv2.__version__}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--impipe", default=default_program(), metavar="PATH")
    parser.add_argument("--match", action="append", default=[], metavar="TEXT",
                        help="only operators whose name contains this; repeats")
    parser.add_argument("--classes", default="u8,u16,f32")
    parser.add_argument("--channels", default="1,3")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--below", type=float, default=math.inf, help="only such ratios are shown")
    parser.add_argument("--part", default="0/1", metavar="I/N",
                        help="every Nth operator from the Ith on, for cores side by side")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    chosen = [row for row in rows()
              if not options.match or any(text in row.name for text in options.match)][part::parts]
    with tempfile.TemporaryDirectory(prefix="impipe-opencv-") as folder:
        side = Side(options.impipe, folder, options.size)
        return 1 if compare(side, chosen, options) else 0


if __name__ == "__main__":
    sys.exit(main())
