#!/usr/bin/env python3
"""Fourier transforms of impipe beside cuFFT (CuPy), cuCIM and scikit-image.

    fft_bars.py [--impipe PATH] [--device ID]    on a card: needs CuPy; cuCIM where it is installed
    fft_bars.py --cpu [--impipe PATH]            normxcorr2 on two cores: needs scikit-image

impipe's times are those of its kernels (`impipe bench --json`, device_least_us): from the pixels of a
single image to single results, transforms in double. cuFFT's are of rfft2 of the same size in double,
and in single for comparison, by the card's clock. Prints a row each, with the ratio theirs / ours;
exit 1 where a bar is missed."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

POWERS = (256, 512, 1024, 2048, 4096, 8192)
SMOOTH = (360, 1000, 1536, 2000, 2100, 3000, 3072, 5000)
OTHER = (1021, 2039)  # primes: reported, without a bar


def ours(args, pipeline, size):
    out = subprocess.run([args.impipe, "bench", pipeline, "--size", str(size), "--class", "single",
                          "--device", args.device, "--repeat", "3", "--json"],
                         capture_output=True, text=True, check=True).stdout
    return json.loads(out)["results"][0]["device_least_us"]


def on_card(cupy, run, repeats=20):
    """Microseconds of the card, the least of some."""
    run()
    times = []
    for _ in range(repeats):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end) * 1e3)
    return min(times)


def row(name, size, mine, theirs, bar, extra=""):
    ratio = theirs / mine
    missed = bar > 0 and ratio < bar
    print(f"{name:34} {size:5}  {mine:10.1f} us  {theirs:10.1f} us  {ratio:5.2f} x"
          f"{f' (bar {bar})' if bar else ''}{' MISSED' if missed else ''}{extra}", flush=True)
    return missed


def cards(args):
    import cupy
    missed = False
    for sizes, bar in ((POWERS, 0.6), (SMOOTH, 0.4), (OTHER, 0)):
        for size in sizes:
            image = cupy.random.rand(size, size)
            single = image.astype(cupy.float32)
            double_us = on_card(cupy, lambda: cupy.fft.rfft2(image))
            single_us = on_card(cupy, lambda: cupy.fft.rfft2(single))
            missed |= row("fft2, cuFFT rfft2 double", size, ours(args, "fft2", size), double_us, bar,
                          f", single {single_us:.1f} us")
    for size in (1024, 2048):
        image = cupy.random.rand(size, size)
        there = on_card(cupy, lambda: cupy.fft.irfft2(cupy.fft.rfft2(image) * 0.5))
        missed |= row("freqfilt, rfft2 * irfft2 double", size, ours(args, "freqfilt cutoff=0.1", size),
                      there, 0)
    try:
        from cucim.skimage.restoration import richardson_lucy
    except ImportError as error:
        print(f"no cuCIM: {error}")
        return missed
    axis = np.exp(-np.arange(-4, 5) ** 2 / 8)
    psf = cupy.asarray(np.outer(axis, axis) / axis.sum() ** 2, dtype=cupy.float32)
    for size in (1024, 2048):
        image = cupy.random.rand(size, size).astype(cupy.float32)
        there = on_card(cupy, lambda: richardson_lucy(image, psf, num_iter=10), 5)
        for option in ("accelerate=off", "accelerate=on"):
            mine = ours(args, f"deconvlucy fspecial:gaussian,9,2 n=10 {option}", size)
            missed |= row(f"deconvlucy {option}, cuCIM", size, mine, there, 2)
    return missed


def seconds_of(command, repeats=5):
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - begin)
    return min(times)


def cpu(args):
    """One image after the other; ours is what each of 80 more files takes, reading included."""
    from skimage.feature import match_template
    missed = False
    rng = np.random.default_rng(1)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    with tempfile.TemporaryDirectory() as folder:
        for size, side in ((1024, 64), (512, 32)):
            image = rng.integers(0, 256, (size, size), dtype=np.uint8)
            template = image[100:100 + side, 90:90 + side].copy()
            np.save(folder + "/t.npy", template)
            there = []
            for _ in range(10):
                begin = time.perf_counter()
                match_template(image, template, pad_input=True)
                there.append(time.perf_counter() - begin)
            ours_of = []
            for count in (20, 100):
                images = f"{folder}/{size}-{count}"
                os.mkdir(images)
                for i in range(count):
                    np.save(f"{images}/{i}.npy", image)
                ours_of.append(seconds_of([args.impipe, "normxcorr2 :t", images, "-n", "-j", "2",
                                           "--device", "cpu", "--with", f"t={folder}/t.npy"]))
            missed |= row(f"normxcorr2 {side}x{side}, match_template", size,
                          (ours_of[1] - ours_of[0]) / 80 * 1e6, min(there) * 1e6, 5)
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--impipe", default="build/ci/src/cli/impipe")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--cpu", action="store_true")
    args = parser.parse_args()
    sys.exit(1 if (cpu if args.cpu else cards)(args) else 0)


if __name__ == "__main__":
    main()
