#!/usr/bin/env bash
# For anybody with a GPU: how long the tables of objects and the operations on 3x3 windows take, the
# rows of docs/benchmarks/h200.md that are to be measured.
#
#   scripts/gpu_objects.sh [IMPIPE] [DEVICE]
#
# IMPIPE: the program (build/ci/src/cli/impipe); DEVICE: cuda:0. Needs Python with numpy. Results on
# the device are compared with the CPU's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
impipe=$(realpath "${1:-build/ci/src/cli/impipe}") device=${2:-cuda:0}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

PYTHONPATH=scripts:scripts/peers python3 - "$work" <<'PYTHON'
import sys
import numpy as np
from pictures import Pictures, labels

side = 4096
np.save(sys.argv[1] + "/labels.npy", labels(side))
np.save(sys.argv[1] + "/blobs.npy", labels(side) > 0)
np.save(sys.argv[1] + "/mask.npy", Pictures().of("mask", side))
PYTHON

for row in "labels regionprops" "blobs regionprops" "mask regionprops" "blobs bwlabel" \
           "blobs bwmorph thin inf" "mask bwmorph thin inf" "mask bwmorph skel inf" \
           "mask bwmorph shrink inf" "mask bwmorph majority inf" "mask bwmorph remove"; do
  picture=$work/${row%% *}.npy pipeline=${row#* }
  printf '\n%s of %s\n' "$pipeline" "${row%% *}"
  "$impipe" bench --device "$device" --input "$picture" --repeat 3 "$pipeline"
  shows=--no-header
  [[ $pipeline == regionprops* ]] || shows=--hash
  for one in cpu "$device"; do
    "$impipe" -q --device "$one" "$pipeline" "$picture" $shows >"$work/$one.tsv"
  done
  if cmp -s "$work/cpu.tsv" "$work/$device.tsv"; then
    echo "the same as on the CPU"
  else
    echo "DIFFERS from the CPU's"
  fi
done
