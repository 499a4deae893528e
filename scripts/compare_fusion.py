#!/usr/bin/env python3
"""Does fusion ever cost time? Pairs of operators as compiled and each on its own, beside each other.

  scripts/compare_fusion.py [--impipe PROGRAM] [--device ID] [--size N] [--most 1.05] [--workers N]
                            [--kinds uint8x1,...] [--match TEXT | --pairs FILE] [--part I/N]

Every operator of `operators` goes before and after every one of `points`. A pair counts with its
least device time (on the CPU: one thread, from decoded pixels to result), fused and with --no-fuse.
Pairs whose fused time is more than --most times the other are measured again in turn, and what
stays is printed with both times in microseconds; at the end the number of pairs, the geometric mean
and how many stayed.
Exits with 1 if there are any. --workers processes compile the kernels first, into the cache of
IMPIPE_CACHE_DIR.
"""
import argparse
import concurrent.futures
import json
import math
import subprocess
import sys
import time

operators = [
    "imboxfilt 3", "imboxfilt 7", "imboxfilt 31", "imgaussfilt 0.5", "imgaussfilt 2",
    "imgaussfilt 6", "conv2 k3", "conv2 k7", "imfilter fspecial:disk,5", "imfilter fspecial:log,9",
    "medfilt2 3", "medfilt2 5", "medfilt2 9", "medfilt2 15", "imdilate square,3",
    "imdilate disk,5", "imdilate disk,15", "imerode line,15,45", "imopen disk,3",
    "imtophat disk,5", "edge sobel", "imgradient", "stdfilt", "entropyfilt", "imsharpen",
    "wiener2", "imbilatfilt", "imresize 0.5", "imresize 2", "imresize 0.5 nearest",
    "imresize 1.5 bilinear", "imwarp rotate=30", "imrotate 30", "imcrop 100,100,2000,1500",
    "fliplr", "rot90", "transpose", "imadjust", "histeq", "rgb2hsv", "rgb2lab", "rgb2gray",
    "immultiply 1.5",
]
points = [
    "imcomplement", "gamma 0.5", "imadjust 0.1,0.9", "imbinarize 0.5", "imquantize 0.3,0.6",
    "im2single", "im2uint16", "map 'x*0.5+0.1'", "mean2", "rgb2gray",
]

rounds_in_turn = 3


def pipelines_of(kind, match, file=None):
    if file:
        with open(file) as lines:
            return [line for line in lines.read().splitlines() if line]
    pairs = []
    for operator in operators:
        for point in points:
            if point.startswith("rgb2") and kind.endswith("x1"):
                continue
            pairs.append(f"{operator} | {point}")
            if point != "mean2":
                pairs.append(f"{point} | {operator}")
    return [p for p in pairs if match in p and not (kind.endswith("x1") and "rgb2" in p)]


def measured(arguments, kind, pipelines, fused, repeat, size=None):
    """Least microseconds by pipeline, of those that this kind of image allows."""
    cls, channels = kind.split("x")
    command = [arguments.impipe, "bench", "--json", "--device", arguments.device, "--size",
               str(size or arguments.size), "--class", cls, "--channels", channels, "--repeat", str(repeat)]
    if arguments.device.startswith("cpu"):
        command += ["-j", "1", "--in-cache"]
    if not fused:
        command.append("--no-fuse")
    try:
        run = subprocess.run(command + pipelines, capture_output=True, text=True, timeout=300)
        rows = json.loads(run.stdout)["results"]
    except (ValueError, KeyError, subprocess.TimeoutExpired):
        rows = []
    key = "min_ms" if arguments.device.startswith("cpu") else "device_least_us"
    scale = 1000 if key == "min_ms" else 1
    return {row["pipeline"]: scale * row[key] for row in rows if key in row}


def allowed(arguments, kind, pipeline):
    cls, channels = kind.split("x")
    return subprocess.run([arguments.impipe, "plan", "--class", cls, "--channels", channels,
                           pipeline], capture_output=True).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--impipe", default="impipe")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--most", type=float, default=1.05)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--kinds", default="uint8x1,uint16x1,singlex1,uint8x3")
    parser.add_argument("--match", default="")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--pairs", help="a file of pipelines instead, one a line")
    arguments = parser.parse_args()
    begun = time.time()
    part, parts = map(int, arguments.part.split("/"))
    work = [(kind, p) for kind in arguments.kinds.split(",")
            for p in pipelines_of(kind, arguments.match, arguments.pairs)][part::parts]
    with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
        work = [w for w, ok in zip(work, pool.map(lambda w: allowed(arguments, *w), work)) if ok]
        if not arguments.device.startswith("cpu"):
            # Small images, and many pipelines a process: a process makes an image and a context.
            chunks = [(kind, some[first:first + 16], fused)
                      for kind in arguments.kinds.split(",")
                      for some in [[p for k, p in work if k == kind]]
                      for first in range(0, len(some), 16) for fused in (True, False)]
            list(pool.map(lambda c: measured(arguments, *c, 1, 64), chunks))
    print(f"{len(work)} pairs, kernels compiled after {time.time() - begun:.0f} s", flush=True)
    logs, stayed = [], []
    for kind in arguments.kinds.split(","):
        all_of_kind = [p for k, p in work if k == kind]
        for first in range(0, len(all_of_kind), 32):
            some = all_of_kind[first:first + 32]
            both = [measured(arguments, kind, some, fused, 5) for fused in (True, False)]
            for p in some:
                if p not in both[0] or p not in both[1]:
                    print(f"{kind:10} {p}: not measured")
                    continue
                one, other = both[0][p], both[1][p]
                # In turn: what else a machine does comes and goes.
                for _ in range(rounds_in_turn if one > arguments.most * other else 0):
                    one = min(one, measured(arguments, kind, [p], True, 5).get(p, one))
                    other = min(other, measured(arguments, kind, [p], False, 5).get(p, other))
                logs.append(math.log(one / other))
                if one > arguments.most * other:
                    stayed.append(p)
                    print(f"{kind:10} {p:50} {one:9.1f} {other:9.1f} {one / other:6.2f}",
                          flush=True)
    if logs:
        print(f"{len(logs)} pairs, geometric mean {math.exp(sum(logs) / len(logs)):.3f}, "
              f"{len(stayed)} above {arguments.most}")
    return 1 if stayed or not logs else 0


if __name__ == "__main__":
    sys.exit(main())
