#!/usr/bin/env python3
"""Draws a suite's rows of one size as a chart: how many times as fast as the naive loop.

  scripts/draw_chart.py REPORT.json OUT.svg [--suite ipt] [--size 4096]

REPORT.json is what `impipe-bench --suite NAME --naive --device cpu:1,cpu,cuda:0 --report` writes. A
bar is the naive loop's time over the device's, on a scale by tens, from decoded pixels to the result
in the host's memory; of a GPU also without the transfers, as between the operators of a pipeline. Colours follow the page that shows the
chart, light or dark.
"""
import argparse
import json
import math
import sys
from xml.sax.saxutils import escape

COLOURS = ["#8a8f98", "#3b82c4", "#d9772b", "#4f9d5d"]
LEFT, BAR, GAP, WIDTH, RIGHT = 150, 11, 9, 520, 90

KERNELS = " kernels"


def is_gpu(result):
    return result["id"] not in ("", "cpu")


def rows_of(report, suite, size):
    """{row: {device: milliseconds}} of naive and each device, in the report's order."""
    rows = {}
    for result in report["results"]:
        if result["suite"] != suite or result["width"] != size or not result["fused"]:
            continue
        row = rows.setdefault(result["name"], {})
        row.setdefault(result["device"], result["median_ms"])
        if is_gpu(result):
            row.setdefault(result["device"] + KERNELS, result["device_us"] / 1e3)
    return {name: times for name, times in rows.items() if "naive" in times and len(times) > 1}


def chart(report, suite, size):
    rows = rows_of(report, suite, size)
    if not rows:
        sys.exit(f"draw_chart.py: no rows of {suite} at {size} beside the naive loop")
    devices = [d for d in next(iter(rows.values())) if d != "naive"][:len(COLOURS)]
    names = {}
    for result in report["results"]:
        threads = result["threads"]
        names[result["device"]] = result["device_name"] + (
            ", with transfers" if is_gpu(result) else
            ", one thread" if threads == 1 else f", {threads} threads")
        names[result["device"] + KERNELS] = result["device_name"] + ", image on the card"
    factors = {name: [times["naive"] / times[d] if d in times else None for d in devices]
               for name, times in rows.items()}
    most = max(f for fs in factors.values() for f in fs if f)
    decades = max(1, math.ceil(math.log10(most)))

    def x_of(factor):
        return LEFT + WIDTH * max(0.0, math.log10(factor)) / decades

    step, top_y = BAR * len(devices) + GAP, 46 + 16 * len(devices)
    height = top_y + step * len(rows) + 34
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + RIGHT} {height}" '
           'font-family="system-ui, sans-serif" font-size="12" role="img">',
           "<style>text{fill:#24292f}line{stroke:#d0d7de}"
           "@media(prefers-color-scheme:dark){text{fill:#e6edf3}line{stroke:#3d444d}}</style>",
           f'<text x="{LEFT}" y="18" font-size="14">times as fast as one thread\'s plain loop, '
           f'{size} x {size} bytes</text>']
    for k, device in enumerate(devices):
        out.append(f'<rect x="{LEFT}" y="{28 + 16 * k}" width="10" height="10" '
                   f'fill="{COLOURS[k]}"/><text x="{LEFT + 16}" y="{37 + 16 * k}">'
                   f'{escape(names[device])}</text>')
    for decade in range(decades + 1):
        x = x_of(10.0 ** decade)
        out.append(f'<line x1="{x:.1f}" y1="{top_y - 8}" x2="{x:.1f}" y2="{height - 26}"/>'
                   f'<text x="{x:.1f}" y="{height - 10}" text-anchor="middle">{10 ** decade}</text>')
    for r, (name, values) in enumerate(factors.items()):
        y = top_y + r * step
        out.append(f'<text x="{LEFT - 8}" y="{y + step / 2:.1f}" text-anchor="end">'
                   f'{escape(name)}</text>')
        for k, factor in enumerate(values):
            if factor is None:
                continue
            width = max(1.0, x_of(factor) - LEFT)
            top = y + k * BAR
            out.append(f'<rect x="{LEFT}" y="{top}" width="{width:.1f}" height="{BAR - 1}" '
                       f'fill="{COLOURS[k]}"/><text x="{LEFT + width + 4:.1f}" y="{top + BAR - 2}" '
                       f'font-size="10">{round(factor, 1 if factor < 10 else None):,}</text>')
    return "\n".join(out) + "\n</svg>\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("report")
    parser.add_argument("out")
    parser.add_argument("--suite", default="ipt")
    parser.add_argument("--size", type=int, default=4096)
    arguments = parser.parse_args()
    with open(arguments.report, encoding="utf-8") as file:
        report = json.load(file)
    text = chart(report, arguments.suite, arguments.size)
    with open(arguments.out, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
