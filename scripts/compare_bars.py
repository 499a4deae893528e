#!/usr/bin/env python3
"""Compares what `impipe-bench --suite NAME --json` measured with the times a card is to reach.

    scripts/compare_bars.py BARS RESULTS...

BARS is a file of docs/benchmarks/bars: one a card, since a time says nothing on another one.
RESULTS are the JSON of --json or --report, any number of suites. Prints a line a bar and exits with
1 when a row misses its bar or was measured on another device, with 2 when nothing could be compared.
"""
import json
import sys


def rows_of(report):
    """{(suite, row, class, size): result} of one report."""
    suite = report.get("suite", "")
    return {(suite, r["name"], r["class"], r.get("size")): r for r in report["results"]
            if "name" in r and "device_us" in r}


def measured(bar, rows):
    """The bar's quantity, in its own unit; None where the row was not run."""
    if bar["of"] == "worst_over_best":
        times = [r["device_us"] for (suite, _, _, size), r in rows.items()
                 if suite == bar["suite"] and size == bar["size"]]
        return max(times) / min(times) if len(times) > 1 else None
    row = rows.get((bar["suite"], bar["row"], bar["class"], bar["size"]))
    if row is None:
        return None
    if bar["of"] == "device_us":
        return row["device_us"]
    if bar["of"] == "times_copy":
        return row["times_yardstick"]
    if bar["of"] == "times_row":
        other = rows.get((bar["suite"], bar["other"], bar["class"], bar["size"]))
        return None if other is None else row["device_us"] / other["device_us"]
    raise SystemExit(f"compare_bars.py: unknown quantity '{bar['of']}'")


def main(arguments):
    if len(arguments) < 2 or arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    with open(arguments[0], encoding="utf-8") as file:
        table = json.load(file)
    rows, elsewhere = {}, set()
    for path in arguments[1:]:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        if table["device"] not in report["device"]["name"]:
            elsewhere.add(report["device"]["name"])
        rows.update(rows_of(report))
    met = missed = 0
    for bar in table["bars"]:
        value = measured(bar, rows)
        if value is None:
            continue
        reached = value <= bar["at_most"]
        met, missed = met + reached, missed + (not reached)
        name = bar.get("row", "worst over best")
        print(f"{'met   ' if reached else 'MISSED'} {value:9.2f} of {bar['at_most']:<6} {bar['of']:<15} "
              f"{bar.get('class', ''):<8} {bar['size']:>5}  {bar['suite']}: {name}")
    for name in sorted(elsewhere):
        print(f"compare_bars.py: these bars are of one {table['device']}, but {name} was measured",
              file=sys.stderr)
    print(f"{met} bars met, {missed} missed, {len(table['bars']) - met - missed} not measured")
    if met + missed == 0:
        return 2
    return 1 if missed or elsewhere else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
