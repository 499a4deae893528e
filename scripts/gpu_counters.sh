#!/usr/bin/env bash
# What bounds a kernel: the counters of NVIDIA's Nsight Compute (ncu) over the kernels of pipelines.
#
#   scripts/gpu_counters.sh [IMPIPE-BENCH] <ROWS
#
# ROWS has a line `LAUNCHES|SKIP|ARGUMENTS` for each pipeline: after SKIP launches of its own kernels
# the next LAUNCHES are told, of `impipe-bench ARGUMENTS`; without ROWS (a terminal) those below.
# A line a launch: time, bytes of memory, instructions, and how busy the issue slots, pipes and caches
# were (per cent), registers, warps, and the cycles an issue waits for long and short latencies,
# pipes, barriers and the queues of memory instructions. Under the profiler clocks are lower than in
# `impipe bench`: compare shares, not times.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bench=${1:-$([ -x bin/impipe-bench ] && echo bin/impipe-bench || echo build/ci/src/bench/impipe-bench)}
command -v ncu >/dev/null || { echo "gpu_counters.sh: ncu is not installed" >&2; exit 2; }

metrics=gpu__time_duration.sum,dram__bytes.sum,smsp__inst_executed.sum
names='us:1e3 MB:1e6 Minst:1e6'
metric() { metrics+=,$2; names+=" $1:1"; }
metric dram% dram__throughput.avg.pct_of_peak_sustained_elapsed
metric l2% lts__throughput.avg.pct_of_peak_sustained_elapsed
metric l1% l1tex__throughput.avg.pct_of_peak_sustained_active
metric issue% smsp__issue_active.avg.pct_of_peak_sustained_active
metric alu% sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active
metric fma% sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active
metric xu% sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active
metric lsu% sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active
metric regs launch__registers_per_thread
metric warps% sm__warps_active.avg.pct_of_peak_sustained_active
for stall in long_scoreboard short_scoreboard math_pipe_throttle barrier lg_throttle mio_throttle; do
  metric "${stall%%_*}" "smsp__average_warps_issue_stalled_${stall}_per_issue_active.ratio"
done

default_rows() {
  cat <<'ROWS'
1|2|--size 8192 'imfilter fspecial:average,3'
1|2|--size 8192 'imgradient sobel | im2uint8'
1|2|--size 8192 'edge prewitt t0.1 nothinning'
1|2|--size 8192 'imfilter fspecial:gaussian,7,1.2'
1|2|--size 8192 --class single 'conv2 fspecial:gaussian,7,1.2'
1|2|--suite primitives --match '7x7 weights'
1|9|--suite primitives --match 'imlincomb of 3'
1|9|--suite primitives --match intlut
1|2|--size 8192 transpose
1|2|--size 8192 'imdilate disk,3'
1|2|--suite primitives --match irregular
2|4|--size 8192 'imdilate square,63'
2|4|--size 8192 'sum | min | max | mean2'
2|4|--size 8192 imhist
1|2|--size 2048 'imfilter fspecial:average,3'
1|2|--size 2048 'imadjust 0.1,0.9 | conv2 k7 | edge prewitt t0.1 nothinning'
8|16|--size 2048 'imadjust | conv2 k7 | edge prewitt'
4|8|--size 512 'radon 0:0.5625:179.6'
6|12|--size 2048 imregionalmax
9|18|--size 4096 'im2bw 0.5 | bwlabel'
1|2|--size 8192 'imregionalmax strict'
1|2|--size 8192 'imgradmorph rectangle,3,7'
2|4|--suite geometry --match 'joint histogram, natural'
1|2|--size 8192 'medfilt2 15'
ROWS
}

table() {
  python3 -c '
import csv, sys
metrics, names = sys.argv[1].split(","), [n.split(":") for n in sys.argv[2].split()]
rows = list(csv.reader(l for l in sys.stdin if l.startswith("\"")))
launches = {}
for row in rows[1:]:
    row = dict(zip(rows[0], row))
    key = (row["ID"], row["Kernel Name"], row["Block Size"], row["Grid Size"])
    launches.setdefault(key, {})[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
for (_, kernel, block, grid), values in launches.items():
    told = (f"{n} {values.get(m, 0) / float(unit):.{1 if unit == '\''1'\'' else 2}f}"
            for m, (n, unit) in zip(metrics, names))
    print(f"{kernel} {block} {grid}", *told)
if not launches:
    print("no such launch")
' "$metrics" "$names"
}

[ -t 0 ] && rows=$(default_rows) || rows=$(cat)
[ -n "$rows" ] || rows=$(default_rows)
while IFS='|' read -r launches skip arguments; do
  echo "== $arguments"
  eval "arguments=($arguments)"
  ncu --clock-control none --csv --print-units base --kernel-name 'regex:n[0-9]' \
    --launch-skip "$skip" --launch-count "$launches" --metrics "$metrics" \
    "$bench" --device cuda:0 "${arguments[@]}" --repeat 2 </dev/null 2>&1 | table
done <<<"$rows"
