#!/usr/bin/env python3
"""Times impipe's CPU beside scikit-image, SciPy and OpenCV over what MATLAB scripts call: objects,
colour, local statistics, frequencies, comparisons.

    compare_skimage.py [--impipe PATH] [--match TEXT]... [--threads N] [--size N]

Decoded pixels to result, the shortest of several runs, in turn. scikit-image and SciPy use one
thread however many there are; OpenCV as many as impipe. Ratio: the faster peer's time over impipe's;
above 1 impipe is faster. Methods differ in details (skimage's bilateral filter, thinning of another
order), so that results are not compared here: semantics and oracle cases do that.
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
import scipy.fft
import scipy.ndimage
import scipy.signal
import skimage
import skimage.color
import skimage.exposure
import skimage.feature
import skimage.filters
import skimage.filters.rank
import skimage.measure
import skimage.metrics
import skimage.morphology
import skimage.registration
import skimage.restoration
import skimage.segmentation
import skimage.util

from make_samples import landscape, photograph, to_gray, to_integer
from run_cases import default_program


def inputs(size):
    """The images by name: gray and other (uint8), colour, mask and its labels, a relief of floats."""
    picture = photograph(landscape, 1, size, size, noise=0.03)
    other = to_gray(photograph(landscape, 2, size, size, noise=0.03))
    # Discs on a grid, moved a little: ten thousand at 2048.
    rng = np.random.default_rng(5)
    mask = np.zeros((size, size), bool)
    step = max(8, size // 100)
    y, x = np.mgrid[-step // 2:step // 2 + 1, -step // 2:step // 2 + 1]
    for top in range(step, size - 2 * step, step):
        for left in range(step, size - 2 * step, step):
            disc = x * x + y * y <= rng.integers(4, (step // 2 - 1) ** 2)
            place = (slice(top, top + disc.shape[0]), slice(left, left + disc.shape[1]))
            mask[place] |= disc
    return {"gray": to_integer(to_gray(picture), 255), "other": to_integer(other, 255),
            "colour": to_integer(picture, 255), "mask": mask,
            "labels": skimage.measure.label(mask).astype(np.uint16),
            "relief": scipy.ndimage.distance_transform_edt(mask).astype(np.float32)}


def rows(images):
    """(name, pipeline, input, {peer: call})"""
    gray, other, colour = images["gray"], images["other"], images["colour"]
    mask, labels, relief = images["mask"], images["labels"], images["relief"]
    bytes_of_mask = mask.astype(np.uint8)
    floats, float_colour = gray.astype(np.float32) / 255, colour.astype(np.float32) / 255
    properties = ("area", "centroid", "bbox", "eccentricity", "major_axis_length")
    square9 = np.ones((9, 9), np.uint8)

    def local_deviation():
        mean = cv2.blur(gray.astype(np.float32), (9, 9))
        return np.sqrt(np.maximum(cv2.sqrBoxFilter(gray, cv2.CV_32F, (9, 9)) - mean * mean, 0))

    def markers():
        return skimage.measure.label(relief > 3)

    yield "regionprops", "regionprops", "labels", {
        "skimage": lambda: skimage.measure.regionprops_table(labels.astype(int), properties=properties)}
    yield "bwlabel", "bwlabel", "mask", {
        "skimage": lambda: skimage.measure.label(mask),
        "OpenCV": lambda: cv2.connectedComponents(bytes_of_mask)}
    yield "bwareaopen 40", "bwareaopen 40", "mask", {
        "skimage": lambda: skimage.morphology.remove_small_objects(mask, max_size=39)}
    yield "imclearborder", "imclearborder", "mask", {
        "skimage": lambda: skimage.segmentation.clear_border(mask)}
    yield "imfill holes", "imfill", "mask", {
        "SciPy": lambda: scipy.ndimage.binary_fill_holes(mask)}
    yield "bwmorph thin inf", "bwmorph thin inf", "mask", {
        "skimage": lambda: skimage.morphology.thin(mask)}
    yield "bweuler", "bweuler", "mask", {"skimage": lambda: skimage.measure.euler_number(mask)}
    yield "bwhitmiss", "bwhitmiss [1 1 1;1 1 1;-1 -1 -1]", "mask", {
        "OpenCV": lambda: cv2.morphologyEx(bytes_of_mask, cv2.MORPH_HITMISS, np.array(
            [[1, 1, 1], [1, 1, 1], [-1, -1, -1]], np.int8))}
    yield "bwdist", "bwdist", "mask", {
        "SciPy": lambda: scipy.ndimage.distance_transform_edt(~mask),
        "OpenCV": lambda: cv2.distanceTransform(1 - bytes_of_mask, cv2.DIST_L2,
                                                cv2.DIST_MASK_PRECISE)}
    yield "watershed", "map '0 - x' | watershed", "relief", {
        "skimage": lambda: skimage.segmentation.watershed(-relief, watershed_line=True),
        "OpenCV": lambda: cv2.watershed(colour, markers().astype(np.int32))}
    yield "imhmax 20", "imhmax 20", "gray", {
        "skimage": lambda: skimage.morphology.reconstruction(
            np.maximum(gray.astype(int) - 20, 0), gray)}
    yield "imregionalmax", "imregionalmax", "gray", {
        "skimage": lambda: skimage.morphology.local_maxima(gray)}
    yield "label2rgb", "label2rgb", "labels", {
        "skimage": lambda: skimage.color.label2rgb(labels)}
    for name, code in (("rgb2hsv", cv2.COLOR_RGB2HSV), ("rgb2lab", cv2.COLOR_RGB2LAB),
                       ("rgb2xyz", cv2.COLOR_RGB2XYZ), ("rgb2ycbcr", cv2.COLOR_RGB2YCrCb)):
        call = getattr(skimage.color, name)
        yield name, name, "colour", {"skimage": lambda call=call: call(colour),
                                     "OpenCV": lambda code=code: cv2.cvtColor(float_colour, code)}
    yield "adapthisteq", "adapthisteq", "gray", {
        "skimage": lambda: skimage.exposure.equalize_adapthist(gray),
        "OpenCV": lambda: cv2.createCLAHE(2.56, (8, 8)).apply(gray)}
    yield "imsharpen", "imsharpen", "gray", {
        "skimage": lambda: skimage.filters.unsharp_mask(gray, 1, 0.8)}
    yield "imhistmatch", "imhistmatch :other", "gray", {
        "skimage": lambda: skimage.exposure.match_histograms(gray, other)}
    yield "multithresh 2", "multithresh 2", "gray", {
        "skimage": lambda: skimage.filters.threshold_multiotsu(gray, 3)}
    yield "stdfilt 9x9", "stdfilt square,9", "gray", {"OpenCV": local_deviation}
    yield "rangefilt 9x9", "rangefilt square,9", "gray", {
        "OpenCV": lambda: cv2.morphologyEx(gray, cv2.MORPH_GRADIENT, square9)}
    yield "entropyfilt 9x9", "entropyfilt", "gray", {
        "skimage": lambda: skimage.filters.rank.entropy(gray, square9)}
    yield "imboxfilt 9", "imboxfilt 9", "gray", {"OpenCV": lambda: cv2.blur(gray, (9, 9))}
    yield "imbilatfilt 5x5", "imbilatfilt 650 1", "gray", {
        "OpenCV": lambda: cv2.bilateralFilter(gray, 5, 25, 1)}
    yield "wiener2 5x5", "wiener2 [5 5]", "gray", {
        "SciPy": lambda: scipy.signal.wiener(floats, (5, 5))}
    yield "imnoise gaussian", "imnoise gaussian", "gray", {
        "skimage": lambda: skimage.util.random_noise(gray)}
    gaussian = np.exp(-np.add.outer(*2 * [np.arange(-4, 5) ** 2]) / 8)
    yield "fft2 magnitude", "fft2 magnitude", "relief", {
        "SciPy": lambda: np.abs(scipy.fft.fft2(relief.astype(float)))}
    yield "dct2", "dct2", "relief", {
        "SciPy": lambda: scipy.fft.dctn(relief.astype(float), norm="ortho")}
    yield "freqfilt", "freqfilt butterworth cutoff=0.1", "gray", {
        "skimage": lambda: skimage.filters.butterworth(gray, 0.1, high_pass=False)}
    yield "deconvlucy 9x9", "deconvlucy fspecial:gaussian,9,2 accelerate=off", "gray", {
        "skimage": lambda: skimage.restoration.richardson_lucy(floats, gaussian / gaussian.sum(), 10)}
    yield "imregcorr", "imregcorr :other subpixel=10", "gray", {
        "skimage": lambda: skimage.registration.phase_cross_correlation(
            gray, other, upsample_factor=10)}
    yield "immse", "immse :other", "gray", {
        "skimage": lambda: skimage.metrics.mean_squared_error(gray, other)}
    yield "psnr", "psnr :other", "gray", {
        "skimage": lambda: skimage.metrics.peak_signal_noise_ratio(gray, other),
        "OpenCV": lambda: cv2.PSNR(gray, other)}
    yield "ssim", "ssim :other", "gray", {
        "skimage": lambda: skimage.metrics.structural_similarity(
            gray, other, gaussian_weights=True, sigma=1.5, use_sample_covariance=False)}


def least_ms(call, seconds=0.6):
    least, runs, end = math.inf, 0, time.perf_counter() + seconds
    while runs < 2 or (time.perf_counter() < end and runs < 50):
        start = time.perf_counter()
        call()
        least, runs = min(least, time.perf_counter() - start), runs + 1
    return 1e3 * least


def impipe_ms(options, paths, name, pipeline):
    command = [options.impipe, "bench", "--json", "--in-cache", "--device", "cpu", "-j",
               str(options.threads), "--input", paths[name], pipeline]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(said)["results"][0]["min_ms"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--impipe", default=default_program(), metavar="PATH")
    parser.add_argument("--match", action="append", default=[], metavar="TEXT",
                        help="only operators whose name contains this; repeats")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--size", type=int, default=2048)
    options = parser.parse_args()
    cv2.setNumThreads(options.threads)
    images = inputs(options.size)
    print(f"scikit-image {skimage.__version__}, SciPy {scipy.__version__}, OpenCV {cv2.__version__}; "
          f"{options.size}x{options.size}, {options.threads} threads")
    print(f"{'operator':<20}{'impipe ms':>11}{'peer ms':>11}  {'peer':<9}{'ratio':>8}  others, ms")
    ratios = []
    with tempfile.TemporaryDirectory(prefix="impipe-skimage-") as folder:
        paths = {}
        for name, pixels in images.items():
            paths[name] = os.path.join(folder, f"{name}.npy")
            np.save(paths[name], np.ascontiguousarray(pixels))
        for name, pipeline, source, peers in rows(images):
            if options.match and not any(text in name for text in options.match):
                continue
            ours = impipe_ms(options, paths, source, pipeline)
            times = sorted((least_ms(call), peer) for peer, call in peers.items())
            ours = min(ours, impipe_ms(options, paths, source, pipeline))
            ratios.append(times[0][0] / ours)
            others = ", ".join(f"{peer} {ms:.1f}" for ms, peer in times[1:])
            print(f"{name:<20}{ours:>11.2f}{times[0][0]:>11.2f}  {times[0][1]:<9}{ratios[-1]:>8.2f}  "
                  f"{others}".rstrip(), flush=True)
    print(f"{len(ratios)} rows, geometric mean {math.exp(np.mean(np.log(ratios))):.2f}, "
          f"{sum(r < 1 for r in ratios)} slower than the faster peer")
    return 0


if __name__ == "__main__":
    sys.exit(main())
