#!/usr/bin/env python3
"""Checks on a card that the form of kernel which costs choose is the fastest one.

    check_costs.py PATH_TO_impipe-bench [--device cuda:0] [--rows 200] [--seeds 1,2,3] [--table FILE]

For each seed it draws rows of the sweep (classes, channels, sizes, parameters) whose images several
forms can make, has impipe-bench time each form with its kernels cached, and prints the share of rows
in which the chosen form is within 10 % of the fastest, and the geometric mean of chosen / fastest.
Forms that are estimated at twelve times the chosen one or more are not timed. Exit 1 below 95 % or
above 1.03. --table: all times, one line a form.
"""
import argparse
import collections
import math
import subprocess
import sys


def rows_of(text):
    """{row: [(form, chosen, estimate, microseconds)]} from impipe-bench's lines."""
    rows = collections.OrderedDict()
    for line in text.splitlines():
        name, cls, channels, size, form, chosen, estimate, time = line.split("\t")
        rows.setdefault((name, cls, channels, size), []).append(
            (form, chosen == "true", float(estimate), float(time)))
    return {key: forms for key, forms in rows.items()
            if len(forms) > 1 and any(form[1] for form in forms) and all(form[3] > 0 for form in forms)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--table")
    args = parser.parse_args()
    good = count = 0
    logs = 0.0
    lost = collections.defaultdict(list)
    table = []
    for seed in args.seeds.split(","):
        done = subprocess.run([args.bench, "--suite", "sweep", "--forms", str(args.rows), "--seed",
                               seed, "--device", args.device], capture_output=True, text=True)
        sys.stderr.write(done.stderr)
        if done.returncode != 0:
            sys.exit(done.returncode)
        table.append(done.stdout)
        rows = rows_of(done.stdout)
        within = 0
        for row, forms in rows.items():
            chosen = next(form for form in forms if form[1])
            fastest = min(forms, key=lambda form: form[3])
            ratio = chosen[3] / fastest[3]
            logs += math.log(ratio)
            within += ratio <= 1.1
            if ratio > 1.1:
                lost[chosen[0], fastest[0]].append((ratio, " ".join(row)))
        good += within
        count += len(rows)
        print(f"seed {seed}: {within} of {len(rows)} rows within 10 %", flush=True)
    share, mean = good / count, math.exp(logs / count)
    print(f"{count} rows: {100 * share:.1f} % within 10 % of the fastest form, geometric mean "
          f"{mean:.3f}")
    for (chosen, fastest), losses in sorted(lost.items(), key=lambda item: -len(item[1])):
        worst = max(losses)
        print(f"  {len(losses)} took '{chosen}' where '{fastest}' is faster, "
              f"{worst[0]:.2f} for {worst[1]}")
    if args.table:
        with open(args.table, "w", encoding="utf-8") as file:
            file.writelines(table)
    return share < 0.95 or mean > 1.03


if __name__ == "__main__":
    sys.exit(main())
