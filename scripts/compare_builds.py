#!/usr/bin/env python3
"""Is another build of impipe faster or slower here? The suites of both, in turn.

  scripts/compare_builds.py OLD NEW [--device ID] [--suites NAME,...] [--most 1.03] [--times 2]
                            [--size N]
  scripts/compare_builds.py OLD NEW --pipelines FILE [--classes ...] [--channels 1,3] [--cores 0,1,...]
                            [--most 1.03] [--times 2] [--size N]
  scripts/compare_builds.py OLD NEW --pipelines FILE --cold [--device ID] [--most 1.03] [--times 2]

OLD and NEW are the programs. Both run each suite --times times, one after the other, and each row
counts with its least time. Rows that are slower by more than --most run again, alone, three times;
what they then took counts as well. Prints a line a row, the geometric mean of every suite and the
rows that stayed slower; exits with 1 if there are any.

--pipelines times the pipelines of a file, a line each, on the CPU with one thread instead: from
decoded pixels to result, in every class and number of channels; what a build cannot do is left out.
Each core of --cores measures rows of its own, both programs in turn.

--cold times whole programs over one picture of 64 x 64 pixels instead: the start with every kernel
in the cache, and what an empty cache adds to it, which is the compilation. A row is slower if its
compilation is; a program counts with its least time.
"""
import argparse
import functools
import itertools
import json
import math
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time


def suites_of(program):
    """The program of the suites in the same build; before it was one of its own, impipe bench."""
    folder, name = os.path.split(os.path.abspath(program))
    for beside in (folder, os.path.join(os.path.dirname(folder), "bench")):
        bench = os.path.join(beside, "impipe-bench")
        if os.path.exists(bench):
            return [bench]
    return [program, "bench"]


def measure(program, arguments, suite, match=None):
    """Least device time of each row in microseconds, by name, class and size."""
    command = [*suites_of(program), "--device", arguments.device, "--suite", suite, "--json"]
    if arguments.size:
        command += ["--size", str(arguments.size)]
    if match:
        command += ["--match", match]
    # A row that the device cannot do is an error of the program; the others are there.
    run = subprocess.run(command, capture_output=True, text=True)
    if not run.stdout:
        sys.exit(f"compare_builds: {' '.join(command)}: {run.stderr.strip()}")
    rows = {}
    for row in json.loads(run.stdout)["results"]:
        if "device_us" in row:
            rows[row["name"], row["class"], row["width"], row["height"]] = row["device_us"]
    return rows


def keep_least(times, measured):
    for key, time in measured.items():
        times[key] = min(time, times.get(key, time))


@functools.cache
def in_cache(program):
    """The flag for images in caches, where the program knows it; before that all runs were such."""
    said = subprocess.run([program, "bench", "--help"], capture_output=True, text=True).stdout
    return ("--in-cache",) if "--in-cache" in said else ()


def wall_time(program, core, pipeline, cls, channels, size):
    """Least time from decoded pixels to result in microseconds, or None if it cannot be done."""
    command = ["taskset", "-c", str(core), program, "bench", pipeline, "--device", "cpu", "-j", "1",
               "--class", cls, "--channels", str(channels), "--size", str(size or 2048),
               "--repeat", "7", "--json", *in_cache(program)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        return None
    return 1000 * json.loads(run.stdout)["results"][0]["min_ms"]


def compare_pipeline(arguments, core, row):
    """(ratio, old, new) of a row of (pipeline, class, channels); None if one cannot do it."""
    old = new = math.inf
    for turn in range(arguments.times + 3):
        for program in ("old", "new"):
            took = wall_time(getattr(arguments, program), core, *row, arguments.size)
            if took is None:
                return None
            if program == "old":
                old = min(old, took)
            else:
                new = min(new, took)
        if turn + 1 >= arguments.times and new <= arguments.most * old:
            break
    return new / old, old, new


def compare_pipelines(arguments):
    with open(arguments.pipelines) as file:
        pipelines = [line.strip() for line in file if line.strip() and line[0] != "#"]
    rows = queue.SimpleQueue()
    for row in itertools.product(pipelines, arguments.classes.split(","),
                                 map(int, arguments.channels.split(","))):
        rows.put(row)
    logs, worse = [], []

    def work(core):
        while True:
            try:
                pipeline, cls, channels = row = rows.get_nowait()
            except queue.Empty:
                return
            times = compare_pipeline(arguments, core, row)
            if times is None:
                continue
            ratio, old, new = times
            line = f"{ratio:6.3f} {old:11.2f} {new:11.2f}  {cls:8} {channels} channels  {pipeline}"
            print(line, flush=True)
            logs.append(math.log(ratio))
            if ratio > arguments.most:
                worse.append(line)

    workers = [threading.Thread(target=work, args=[core]) for core in arguments.cores.split(",")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(f"{len(logs)} rows, geometric mean {math.exp(sum(logs) / max(1, len(logs))):.3f}")
    return worse


def start_times(program, pipeline, cls, device, folder):
    """Seconds of a program with an empty cache and with a full one; None if it cannot be done."""
    cache = os.path.join(folder, "cache")
    shutil.rmtree(cache, ignore_errors=True)
    # The drivers' own caches would give back what one of the programs compiled before.
    environment = dict(os.environ, IMPIPE_CACHE_DIR=cache, POCL_KERNEL_CACHE="0",
                       CUDA_CACHE_DISABLE="1")
    command = [program, "-q", pipeline, os.path.join(folder, cls + ".npy"), "-o",
               os.path.join(folder, "out.npy"), "--device", device]
    if ":b" in pipeline:
        command += ["--b", os.path.join(folder, cls + ".npy")]
    times = []
    for _ in range(3):
        start = time.perf_counter()
        if subprocess.run(command, capture_output=True, env=environment).returncode != 0:
            return None
        times.append(time.perf_counter() - start)
    return times[0], min(times[1:])


def write_npy(path, cls):
    """An array of 64 x 64 numbers."""
    codes, bytes_each = {"uint8": ("|u1", 1), "uint16": ("<u2", 2), "single": ("<f4", 4)}[cls]
    head = f"{{'descr': '{codes}', 'fortran_order': False, 'shape': (64, 64), }}"
    head = head.ljust(117) + "\n"
    numbers = bytes(i * 7 % 251 if cls != "single" else 0 for i in range(64 * 64 * bytes_each))
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + numbers)


def compare_starts(arguments):
    with open(arguments.pipelines) as file:
        pipelines = [line.strip() for line in file if line.strip() and line[0] != "#"]
    compile_logs, start_logs, worse = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for cls in arguments.classes.split(","):
            write_npy(os.path.join(folder, cls + ".npy"), cls)
        for pipeline, cls in itertools.product(pipelines, arguments.classes.split(",")):
            least = {}
            for _, which in itertools.product(range(arguments.times), ("old", "new")):
                took = start_times(getattr(arguments, which), pipeline, cls, arguments.device, folder)
                if took is None:
                    break
                least[which] = tuple(map(min, took, least.get(which, took)))
            if len(least) < 2:
                continue
            (old_cold, old_warm), (new_cold, new_warm) = least["old"], least["new"]
            ratio = max(new_cold - new_warm, 1e-3) / max(old_cold - old_warm, 1e-3)
            line = (f"{ratio:6.3f} {1000 * (old_cold - old_warm):9.0f} "
                    f"{1000 * (new_cold - new_warm):9.0f} {1000 * old_warm:9.0f} "
                    f"{1000 * new_warm:9.0f}  {cls:8} {pipeline}")
            print(line, flush=True)
            compile_logs.append(math.log(ratio))
            start_logs.append(math.log(new_warm / old_warm))
            if ratio > arguments.most:
                worse.append(line)
    count = max(1, len(compile_logs))
    print(f"{len(compile_logs)} rows, geometric means: compilation "
          f"{math.exp(sum(compile_logs) / count):.3f}, start {math.exp(sum(start_logs) / count):.3f}")
    return worse


def compare(arguments, suite):
    programs = {"old": arguments.old, "new": arguments.new}
    times = {"old": {}, "new": {}}
    for _ in range(arguments.times):
        for which, program in programs.items():
            keep_least(times[which], measure(program, arguments, suite))
    old, new = times["old"], times["new"]
    slower = {key[0] for key in new if key in old and new[key] > arguments.most * old[key]}
    for name in sorted(slower):
        for _ in range(3):
            for which, program in programs.items():
                keep_least(times[which], measure(program, arguments, suite, name))
    logs, worse = [], []
    for key in sorted(set(old) & set(new)):
        ratio = new[key] / old[key]
        logs.append(math.log(ratio))
        name, cls, width, height = key
        line = f"{ratio:6.3f} {old[key]:11.2f} {new[key]:11.2f}  {cls:8} {width}x{height}  {name}"
        print(f"{suite:12}{line}")
        if ratio > arguments.most:
            worse.append(line)
    for key in sorted(set(old) ^ set(new)):
        print(f"{suite:12}only one build has {key[0]}")
    mean = math.exp(sum(logs) / len(logs)) if logs else float("nan")
    print(f"{suite}: {len(logs)} rows, geometric mean {mean:.3f}, {len(worse)} above "
          f"{arguments.most}", flush=True)
    return worse


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--suites", default="primitives,edt,geometry,algorithms")
    parser.add_argument("--most", type=float, default=1.03)
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--size", type=int, help="side of all images, instead of the suites'")
    parser.add_argument("--pipelines", help="a file of pipelines, timed instead of suites")
    parser.add_argument("--cold", action="store_true",
                        help="time compilation and start of the pipelines' programs")
    parser.add_argument("--classes", default="uint8,uint16,single")
    parser.add_argument("--channels", default="1,3")
    parser.add_argument("--cores", default="0")
    arguments = parser.parse_args()
    if arguments.cold:
        print(" ratio    compile: old, new       start: old, new ms  class    pipeline")
        worse = compare_starts(arguments)
    elif arguments.pipelines:
        print(" ratio      old us      new us  class    pipeline")
        worse = compare_pipelines(arguments)
    else:
        print("suite        ratio      old us      new us  class    size  row")
        worse = [line for suite in arguments.suites.split(",") for line in compare(arguments, suite)]
    print(f"{len(worse)} rows are slower than {arguments.most} times the old ones")
    for line in worse:
        print(line)
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
