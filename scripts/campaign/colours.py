#!/usr/bin/env python3
"""Processor time of colour conversions of folders, beside vipsthumbnail and oiiotool.

  scripts/campaign/colours.py PROGRAM OIIOTOOL [--times 3] [--photos 200] [--frames 24]

Photographs of Adobe RGB become web pictures of sRGB; frames of ACES2065-1 become JPEGs of sRGB by
an OpenColorIO configuration that is written here. OIIOTOOL: PyPI's OpenImageIO, which has
--parallel-frames. The programs run in turn; each counts with its least processor time (user and
system). Prints a line a program: milliseconds of processor and wall time a picture, and the ratio.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
from PIL import Image

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path[:0] = [os.path.join(ROOT, "scripts"), os.path.join(ROOT, "tests", "cli")]
from icc_writer import ADOBE, gamma, profile  # noqa: E402
from make_samples import photograph, street  # noqa: E402

CONFIG = """ocio_profile_version: 2
environment: {}
search_path: ""
roles: {default: ACES2065-1, scene_linear: ACES2065-1}
file_rules: [!<Rule> {name: Default, colorspace: default}]
displays: {sRGB: [!<View> {name: Raw, colorspace: sRGB}]}
colorspaces:
  - !<ColorSpace> {name: ACES2065-1}
  - !<ColorSpace>
    name: sRGB
    from_scene_reference: !<GroupTransform>
      children:
        - !<MatrixTransform> {matrix: [2.52168618674, -1.13413098824, -0.38755519850, 0, -0.27647991423, 1.37271908766, -0.09623917343, 0, -0.01537806496, -0.15297533586, 1.16835340082, 0, 0, 0, 0, 1]}
        - !<ExponentWithLinearTransform> {gamma: [2.4, 2.4, 2.4, 1], offset: [0.055, 0.055, 0.055, 0], direction: inverse}
"""


def make(options, folder):
    for name in ("photos", "frames"):
        os.mkdir(f"{folder}/{name}")
    icc = profile(gamma(563 / 256), ADOBE)
    pictures = [photograph(street, seed, 3000, 2000) for seed in range(4)]
    for i in range(options.photos):
        Image.fromarray((pictures[i % 4] * 255).astype(np.uint8)).save(
            f"{folder}/photos/{i:03}.jpg", quality=92, icc_profile=icc)
    light = photograph(street, 9, 1920, 1080) ** 2.2 * 1.2
    np.save(f"{folder}/light.npy", light)
    subprocess.run([options.program, "rot90 0", f"{folder}/light.npy", "-o", f"{folder}/light.tif",
                    "-q"], check=True)
    for i in range(1, options.frames + 1):
        subprocess.run([options.oiiotool, f"{folder}/light.tif", "-d", "half", "--compression", "zip",
                        "-o", f"{folder}/frames/f.{i:04}.exr"], check=True)
    with open(f"{folder}/config.ocio", "w", encoding="utf-8") as file:
        file.write(CONFIG)


def timed(command, folder):
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return processor, time.monotonic() - begin


def compare(title, count, commands, times, folder):
    rows = {name: [] for name in commands}
    for _ in range(times):
        for name, command in commands.items():
            rows[name].append(timed(command, folder))
    own = min(rows["impipe"])[0]
    for name, pairs in rows.items():
        processor, wall = min(pairs)
        print(f"{title:28} {name:16} {1e3 * processor / count:8.1f} ms {1e3 * wall / count:8.1f} ms"
              f" {processor / own:6.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("oiiotool", type=os.path.abspath)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--photos", type=int, default=200)
    parser.add_argument("--frames", type=int, default=24)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make(options, folder)
        photos = [f"photos/{name}" for name in sorted(os.listdir(f"{folder}/photos"))]
        os.mkdir(f"{folder}/vips")
        compare("Adobe RGB to sRGB, 1024", options.photos, {
            "impipe": [options.program, "imresize fit=1024,1024 | icc srgb", "photos", "-o", "web",
                       "--shrink-on-load", "--quality", "75", "-q"],
            "vipsthumbnail": ["vipsthumbnail", *photos, "--size", "1024x1024", "--eprofile", "srgb",
                              "-o", "../vips/%s.jpg[Q=75]"]}, options.times, folder)
        compare("ACES EXR to sRGB JPEG", options.frames, {
            "impipe": [options.program, "ocio ACES2065-1 sRGB config=@config.ocio", "frames", "-o",
                       "jpegs", "--format", "jpg", "--quality", "90", "-q"],
            "oiiotool": [options.oiiotool, "--parallel-frames", "--frames", f"1-{options.frames}",
                         "frames/f.%04d.exr", "--colorconfig", "config.ocio", "--colorconvert",
                         "ACES2065-1", "sRGB", "-d", "uint8", "--quality", "90", "-o",
                         "oiio.%04d.jpg"]}, options.times, folder)


if __name__ == "__main__":
    main()
