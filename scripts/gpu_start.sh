#!/bin/bash
# How long a run with one picture takes on a card, and how much of it is the driver's: this program,
# another (an older one), and a program that only opens the card (scripts/peers/cuda_start.cu,
# compiled). Prints the least and the median of eight runs, taken in turn.
# usage: scripts/gpu_start.sh PROGRAM OTHER CUDA_START [DEVICE]
set -eu
program=$1 other=$2 floor=$3 device=${4:-cuda:0}
work=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$work"' EXIT
mkdir "$work/in"
"$program" -q --device cpu 'noise 2048 seed=1 | imgaussfilt 3 | imadjust | im2uint8' -o "$work/in/a.png"
run() {  # NAME: a line of milliseconds
  case $1 in
    this) XDG_CACHE_HOME=$work/this "$program" -q 'imgaussfilt 2' "$work/in" -o "$work/out" --device "$device" ;;
    other) XDG_CACHE_HOME=$work/other "$other" -q 'imgaussfilt 2' "$work/in" -o "$work/out" --device "$device" ;;
    driver) "$floor" > /dev/null ;;
  esac
  rm -rf "$work/out"
}
# Fills their caches: a run as short as these ends before the codecs' kernels are compiled.
XDG_CACHE_HOME=$work/this "$program" -q 'imgaussfilt 2' "$work/in" -o "$work/out" --device "$device" \
  --codec device
for name in this other; do run $name; run $name; done
for ((i = 0; i < 8; ++i)); do
  for name in driver this other; do
    begin=$(date +%s%N)
    run $name
    echo $((($(date +%s%N) - begin) / 1000)) >> "$work/$name.us"
  done
done
"$floor"
for name in driver this other; do
  sort -n "$work/$name.us" | awk -v name=$name '{v[NR] = $1 / 1000}
    END {printf "%-7s least %.1f ms, median %.1f ms\n", name, v[1], (v[4] + v[5]) / 2}'
done
