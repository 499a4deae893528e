#!/usr/bin/env python3
"""Filters of volumes on a CUDA card beside cupyx.scipy.ndimage, in one run.

    volumes_on_card.py [--planes N] [--side N] [--rounds N]

Run it where `import impipe` works, and CuPy: with the wheel installed, or unpacked by `python3 -m zipfile -e
impipe-*.whl DIR` and DIR on PYTHONPATH. A line for each filter and type: milliseconds of impipe and of cupyx, the
best of N rounds, from NumPy's arrays to NumPy's arrays (transfers are a part of both), and from CuPy's arrays to CuPy's
(none in cupyx). The result of the card has to be that of impipe's CPU, and lie within a level (1e-5) of that of
cupyx on floats (of integers cupyx cuts each axis' result to an integer); exit 1 where it does not.
"""
import argparse
import sys
import time

import cupy
import numpy as np
from cupyx.scipy import ndimage

import impipe

FILTERS = [
    ("imgaussfilt3 1", lambda v: ndimage.gaussian_filter(v, 1, mode="nearest", truncate=2)),
    ("imgaussfilt3 2", lambda v: ndimage.gaussian_filter(v, 2, mode="nearest", truncate=2)),
    ("imboxfilt3 3", lambda v: ndimage.uniform_filter(v, 3, mode="nearest")),
    ("imboxfilt3 5", lambda v: ndimage.uniform_filter(v, 5, mode="nearest")),
    ("medfilt3 3", lambda v: ndimage.median_filter(v, 3, mode="reflect")),
    ("imdilate3 cuboid,5", lambda v: ndimage.grey_dilation(v, 5, mode="nearest")),
]


def best(work, rounds):
    """Milliseconds; the first call compiles."""
    work()
    seconds = []
    for _ in range(rounds):
        cupy.cuda.Device().synchronize()
        begin = time.perf_counter()
        work()
        cupy.cuda.Device().synchronize()
        seconds.append(time.perf_counter() - begin)
    return 1e3 * min(seconds)


def volumes(shape):
    rng = np.random.default_rng(5)
    yield rng.integers(0, 65536, shape, dtype=np.uint16)
    yield rng.random(shape, dtype=np.float32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--planes", type=int, default=64)
    parser.add_argument("--side", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    failed = False
    print("filter              type      NumPy in and out: impipe   cupyx  ratio   on the card: impipe   cupyx  ratio")
    for volume in volumes((options.planes, options.side, options.side)):
        there = cupy.asarray(volume)
        for text, theirs in FILTERS:
            pipeline, on_cpu = impipe.Pipeline(text, device="cuda"), impipe.Pipeline(text)
            on_card = lambda array: pipeline(array, axes="ZYX")
            made, wanted = on_card(volume), theirs(there.astype(np.float32)).get()
            same = np.array_equal(made, on_cpu(volume, axes="ZYX"))
            level = 1 if volume.dtype == np.uint16 else 1e-5
            off = np.abs(made.astype(np.float64) - wanted).max()
            is_near = off <= level
            failed = failed or not (same and is_near)
            times = [best(lambda: on_card(volume), options.rounds),
                     best(lambda: theirs(cupy.asarray(volume)).get(), options.rounds),
                     best(lambda: on_card(there), options.rounds), best(lambda: theirs(there), options.rounds)]
            print(f"{text:19} {volume.dtype!s:8} {times[0]:25.2f} {times[1]:7.2f} {times[1] / times[0]:6.2f}"
                  f" {times[2]:20.2f} {times[3]:7.2f} {times[3] / times[2]:6.2f}"
                  + ("" if same else "   NOT the CPU's bits") + ("" if is_near else f"   {off:g} off cupyx"), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
