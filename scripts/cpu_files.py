#!/usr/bin/env python3
"""Processor time of files and frames, beside an older program, oiiotool and ffmpeg.

  scripts/cpu_files.py PROGRAM OTHER [--times 5] [--folder DIR]

The programs run one after the other, --times times; each command counts with its least processor
time (user and system). Prints a line a command: milliseconds of processor time and of wall time,
minor page faults, all of one file or frame. Making the files takes minutes.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from PIL import Image

FILES, FRAMES, VIDEO = 100, 100, "1280x720"


def natural(height, width, seed):
    """Smooth surfaces, edges and grain: compresses as photographs do."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width] / 256.0
    planes = []
    for c in range(3):
        plane = np.sin(3 * x + c) * np.cos(2 * y) + 0.5 * np.sin(17 * x * y / 8 + c)
        plane += 0.6 * ((x * 2).astype(int) + (y * 2).astype(int)) % 2
        planes.append(plane + rng.normal(0, 0.02, (height, width)))
    planes = np.stack(planes, 2)
    return ((planes - planes.min()) / np.ptp(planes)).astype(np.float32)


def make(program, folder):
    picture = natural(1556, 2048, 1)
    large = natural(4096, 8192, 2)
    for name, pixels in (("picture", picture), ("large", large)):
        np.save(f"{folder}/{name}.npy", pixels)
        subprocess.run([program, "rot90 0", f"{folder}/{name}.npy", "-q",
                        "-o", f"{folder}/{name}.tif"], check=True)
    for kind in ("half", "float"):
        for compression in ("zip", "zips"):
            subprocess.run(["oiiotool", f"{folder}/picture.tif", "-d", kind, "--compression",
                            compression, "-o", f"{folder}/{kind}_{compression}.exr"], check=True)
    subprocess.run(["oiiotool", f"{folder}/large.tif", "-d", "half", "--compression", "zip",
                    "-o", f"{folder}/large.exr"], check=True)
    os.mkdir(f"{folder}/jpegs")
    frames = [Image.fromarray((natural(1080, 1920, seed) * 255).astype(np.uint8))
              for seed in range(4)]
    for i in range(FILES):
        frames[i % 4].save(f"{folder}/jpegs/{i:03}.jpg", quality=90)
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=s={VIDEO}:r=25",
                    "-frames:v", str(FRAMES), "-pix_fmt", "yuv420p", f"{folder}/video.y4m"],
                   check=True)


def run(command, folder):
    begin = time.monotonic()
    process = subprocess.Popen(["bash", "-c", "exec " + command], cwd=folder,
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"cpu_files: failed: {command}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begin, usage.ru_minflt


def table(title, rows, count, arguments, folder):
    print(f"\n{title}\n{'':26} processor ms  wall ms   faults  MiB")
    best = {}
    for _ in range(arguments.times):
        for name, command in rows:
            used = run(command, folder)
            best[name] = min(best.get(name, used), used)
    for name, _ in rows:
        cpu, wall, faults = best[name]
        print(f"{name:26} {cpu / count * 1e3:12.1f} {wall / count * 1e3:8.1f} "
              f"{faults / count:8.0f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("other")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--folder", help="where the files are made (default: the system's)")
    arguments = parser.parse_args()
    now, other = (os.path.abspath(name) for name in (arguments.program, arguments.other))
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        make(now, folder)
        for pipeline in ("rot90 0", "imgaussfilt 2"):
            for file in ("half_zip", "half_zips", "float_zip", "float_zips"):
                table(f"EXR 2048x1556 RGB, {file}, {pipeline}",
                      [(name, f"{program} '{pipeline}' {file}.exr -o out.exr -q")
                       for name, program in (("this", now), ("other", other))] +
                      [("oiiotool, read and write",
                        f"oiiotool --threads 1 {file}.exr -o out.exr")], 1, arguments, folder)
        table("one EXR 8192x4096 RGB, half, zip, rot90 0",
              [(f"{name} -j {threads}",
                f"{program} 'rot90 0' large.exr -o out.exr -q -j {threads}")
               for name, program in (("this", now), ("other", other)) for threads in (1, 2)],
              1, arguments, folder)
        chain = "imadjust | conv2 k7 | edge prewitt"
        table(f"a JPEG of {FILES}, 1920x1080, {chain}",
              [(name, f"{program} '{chain}' jpegs -o out/ -q")
               for name, program in (("this", now), ("other", other))], FILES, arguments, folder)
        blur = "format=gbrp,gblur=sigma=2,format=yuv420p"
        table(f"a frame of {FRAMES}, Y4M {VIDEO} 4:2:0, imgaussfilt 2",
              [(name, f"{program} 'imgaussfilt 2' - -o - < video.y4m > /dev/null")
               for name, program in (("this", now), ("other", other))] +
              [(f"ffmpeg gblur, {name}", f"ffmpeg -v error {threads} -i - -vf {blur} "
                "-f yuv4mpegpipe - < video.y4m > /dev/null")
               for name, threads in (("1 thread", "-threads 1 -filter_threads 1"),
                                     ("all threads", ""))], FRAMES, arguments, folder)


main()
