#!/usr/bin/env bash
# For anybody with several GPUs in a host: how much faster are folders on 2, 4 and 8 of them?
#
#   scripts/gpu_cards.sh [IMPIPE [SHARE [DEVICES]]]
#
# Pictures and results lie in memory (/dev/shm). Prints a row a folder and number of cards: files a
# second, the best of two, how many times one card's that is, how busy each card was, and what bounds
# the run; and says where the hashes of all cards are not those of one. SHARE: of the files, 1 is all.
# DEVICES: "cuda:0,cuda:1", all of CUDA's otherwise.
set -euo pipefail
impipe=$(realpath "${1:-build/ci/src/cli/impipe}") share=${2:-1}
work=$(mktemp -d /dev/shm/impipe.XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_CACHE_HOME=$work/cache
cards=${3:-$("$impipe" devices | grep -oE '^cuda:[0-9]+' | paste -sd,)}
echo "cards: $cards; $(nproc) cores; $("$impipe" --version | head -1)"

# make FOLDER COUNT SIZE NAME [ARGUMENTS]: links to pictures of four seeds.
make() {
  local count i
  count=$(python3 -c "print(max(16, round($2 * $share)))")
  mkdir "$1"
  for i in 0 1 2 3; do
    "$impipe" -q --device cpu "noise $3 seed=$i | imgaussfilt 1 | imadjust ${colours:-}" -o "$i-$4" "${@:5}"
  done
  for ((i = 0; i < count; ++i)); do ln "$((i % 4))-$4" "$1/$i-$4"; done
}
# run DEVICES PIPELINE FOLDER: seconds; the profile lies in ./profile.
run() {
  "$impipe" -q --device "$1" "$2" "$3" -o out --profile --summary summary.json 2> profile
  rm -rf out
  python3 -c 'import json; print(json.load(open("summary.json"))["seconds"])'
}
# row PIPELINE FOLDER: with the first 1, 2, 4, 8 cards.
row() {
  local files one='' count some seconds
  files=$(find "$2" -type f | wc -l)
  # A run of some seconds ends before the codecs' kernels are compiled: they are first, for the cache.
  "$impipe" -q --device "$cards" --codec device "$1" "$2" -o out
  rm -rf out
  "$impipe" -q --device "${cards%%,*}" "$1" "$2" --hash > one.tsv
  "$impipe" -q --device "$cards" "$1" "$2" --hash > all.tsv
  cmp -s one.tsv all.tsv || echo "$2: other hashes on all cards than on one"
  for count in 1 2 4 8; do
    some=$(echo "$cards" | cut -d, -f"-$count")
    [ "$(echo "$some" | tr , '\n' | wc -l)" = "$count" ] || break
    seconds=$(python3 -c "print(min($(run "$some" "$1" "$2"), $(run "$some" "$1" "$2")))")
    one=${one:-$seconds}
    python3 - "$2" "$files" "$count" "$seconds" "$one" << 'PYTHON'
import re
import sys
folder, files, count, seconds, one = sys.argv[1:]
said = open("profile").read()
busy = re.findall(r"\w+:\d+: .* busy [\d.]+ s, ([\d.]+) %", said)
bound = re.search(r"bound by (.*)", said)
print(f"{folder:8} {count} cards {float(files) / float(seconds):8.0f} files/s "
      f"{float(one) / float(seconds):5.2f} x; cards busy {', '.join(busy)} %; bound by {bound[1]}")
PYTHON
  done
}
make kernels 640 4096 4096.pgm
colours="| gray2rgb | imapplymatrix [1,0,0;0,0.8,0;0,0,0.6] | im2uint8"
make jpeg 7680 1080,1920 hd.jpg --quality 90
make png 5760 1080,1920 hd.png
make exr 768 1080,1920 hd.exr -d half
colours=
make npy 200 2048 a.npy -d uint16
row "im2single $(printf '| medfilt2 %s ' 31 29 27 25 31 29 27 25)| im2uint8" kernels
row 'imgaussfilt 2' jpeg
row 'imgaussfilt 2' png
row 'imgaussfilt 2' exr
stacked() {
  "$impipe" -q --device "$1" 'imgaussfilt 2 | stack median' npy -o master.npy
}
for some in "${cards%%,*}" "$cards"; do
  stacked "$some"
  begin=$(date +%s.%N)
  stacked "$some"
  python3 -c "print(f'stack    {$(date +%s.%N) - $begin:.2f} s over 200 files on $some')"
  sha256sum < master.npy
done
