#!/usr/bin/env bash
# For anybody with several GPUs: how much faster is a folder on all of them than on one?
#
#   scripts/gpu_two.sh [IMPIPE [TIMES]]
#
# Pictures and results lie in memory (/dev/shm). A pipeline that is bound by its kernels, one that is
# bound by transfers, and JPEG files; one GPU and all of them in turn, twice each, and what bounds
# them. The hashes of both are compared. TIMES: so many times the 640, 240 and 1920 files.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
impipe=$(realpath "${1:-build/ci/src/cli/impipe}")
times=${2:-1}
work=$(mktemp -d /dev/shm/impipe.XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
gpus=$("$impipe" devices | grep -oE '^cuda:[0-9]+' | paste -sd,)
echo "GPUs: $gpus; $(nproc) cores"

mkdir gray jpeg
for i in 0 1 2 3; do
  "$impipe" -q "noise 4096 seed=$i | imgaussfilt 3 | imadjust" -o "gray$i.pgm"
  "$impipe" -q "noise 1080,1920 seed=$i | imgaussfilt 2 | imadjust" -o "jpeg$i.jpg" --quality 90
done
for i in $(seq -w 0 $((240 * times - 1))); do ln "gray$((10#$i % 4)).pgm" "gray/$i.pgm"; done
mkdir many
for i in $(seq -w 0 $((640 * times - 1))); do ln "gray$((10#$i % 4)).pgm" "many/$i.pgm"; done
for i in $(seq -w 0 $((1920 * times - 1))); do ln "jpeg$((10#$i % 4)).jpg" "jpeg/$i.jpg"; done

seconds() {  # DEVICE PIPELINE FOLDER
  "$impipe" -q --device "$1" "$2" "$3" -o out --summary summary.json
  rm -rf out
  python3 -c 'import json; s = json.load(open("summary.json")); print(s["seconds"])'
}
compare() {  # NAME PIPELINE FOLDER
  local one='' all=''
  echo
  echo "$1: '$2' over $(ls "$3" | wc -l) files of $3"
  "$impipe" -q --device "${gpus%%,*}" "$2" "$3" --hash >one.tsv  # and the caches
  "$impipe" -q --device "$gpus" "$2" "$3" --hash >all.tsv
  cmp one.tsv all.tsv && echo "the same hashes"
  for _ in 1 2; do
    one+=" $(seconds "${gpus%%,*}" "$2" "$3")"
    all+=" $(seconds "$gpus" "$2" "$3")"
  done
  python3 - "$one" "$all" <<'PYTHON'
import sys
one, all_ = ([float(s) for s in text.split()] for text in sys.argv[1:3])
print(f"one GPU {one} s, all {all_} s: {min(one) / min(all_):.2f} times as fast")
PYTHON
  "$impipe" -q --device "$gpus" "$2" "$3" -o out --profile 2>&1 | head -n 14
  rm -rf out
}
medians=$(printf '| medfilt2 %s ' 31 29 27 25 31 29 27 25)
compare "bound by kernels" "im2single $medians| im2uint8" many
compare "bound by transfers" 'imadjust | conv2 k7 | edge prewitt' gray
compare "bound by JPEG" 'imgaussfilt 2' jpeg
echo
"$impipe" -q --device cpu 'imgaussfilt 2' jpeg -o out --profile 2>&1 | head -n 12
