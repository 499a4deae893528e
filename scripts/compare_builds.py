#!/usr/bin/env python3
"""Is another build of impipe faster or slower here? The suites of both, in turn.

  scripts/compare_builds.py OLD NEW [--device ID] [--suites NAME,...] [--most 1.03] [--times 2]
                            [--size N]

OLD and NEW are the programs. Both run each suite --times times, one after the other, and each row
counts with its least time. Rows that are slower by more than --most run again, alone, three times;
what they then took counts as well. Prints a line a row, the geometric mean of every suite and the
rows that stayed slower; exits with 1 if there are any.
"""
import argparse
import json
import math
import subprocess
import sys


def measure(program, arguments, suite, match=None):
    """Least device time of each row in microseconds, by name, class and size."""
    command = [program, "bench", "--device", arguments.device, "--suite", suite, "--json"]
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
    arguments = parser.parse_args()
    print("suite        ratio      old us      new us  class    size  row")
    worse = [line for suite in arguments.suites.split(",") for line in compare(arguments, suite)]
    print(f"{len(worse)} rows are slower than {arguments.most} times the old ones")
    for line in worse:
        print(line)
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
