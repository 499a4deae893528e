#!/bin/bash
# Times folders of files from a RAM disk to a RAM disk, on the CPU and on a card, with the host's
# codecs and with the card's, and with another program (an older one) on the card. Prints a line a
# folder: files a second, the best of two; all but the last two of PROGRAM do half of the files.
# usage: scripts/gpu_files.sh PROGRAM [DEVICE [SHARE [OTHER]]]
# SHARE: of the files, 1 is all of them. EXRs of 12 channels have nine that are carried over.
set -eu
program=$1 device=${2:-cuda:0} share=${3:-1} other=${4:-}
work=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$work"' EXIT
mkdir "$work/cache" "$work/other-cache"

# make FOLDER COUNT FILE: so many copies of a file in FOLDER, and half of them in FOLDER-part.
make() {
  mkdir "$work/$1" "$work/$1-part"
  local count
  count=$(python3 -c "print(max(8, round($2 * $share)))")
  for ((i = 0; i < count; ++i)); do cp "$work/$3" "$work/$1/$i.${3##*.}"; done
  for ((i = 0; i < (count + 1) / 2; ++i)); do
    ln "$work/$1/$i.${3##*.}" "$work/$1-part/$i.${3##*.}"
  done
}

PYTHONPATH=$(dirname "$0") python3 - "$work" <<'PY'
import sys
import numpy as np
from PIL import Image
from gpu_codecs import exr

def natural(height, width, channels):
    """Smooth surfaces, edges and grain: packs as photographs do."""
    rng = np.random.default_rng(1)
    y, x = np.mgrid[0:height, 0:width] / 256.0
    planes = []
    for c in range(channels):
        plane = np.sin(3 * x + c) * np.cos(2 * y) + 0.5 * np.sin(17 * x * y / 8 + c)
        plane += 0.6 * ((x * 2).astype(int) + (y * 2).astype(int)) % 2
        planes.append(plane + rng.normal(0, 0.02, (height, width)))
    planes = np.stack(planes, 2)
    return ((planes - planes.min()) / np.ptp(planes)).astype(np.float32)

work = sys.argv[1]
gray, colour = natural(2048, 2048, 1)[..., 0], natural(1080, 1920, 3)
Image.fromarray((gray * 255).astype(np.uint8)).save(f"{work}/gray.png")
Image.fromarray((colour * 255).astype(np.uint8)).save(f"{work}/colour.png")
Image.fromarray((gray[:256, :256] * 255).astype(np.uint8)).save(f"{work}/small.png")
wide = Image.fromarray((gray * 65535).astype(np.uint16))
wide.save(f"{work}/none.tif")
wide.save(f"{work}/lzw.tif", compression="tiff_lzw")
wide.save(f"{work}/deflate.tif", compression="tiff_adobe_deflate", tiffinfo={317: 2})
np.save(f"{work}/gray.npy", gray)
np.save(f"{work}/colour.npy", colour)
names = sorted(["B", "G", "R"] + [f"{pass_}.{c}" for pass_ in ("diffuse", "N", "spec") for c in "RGB"])
with open(f"{work}/twelve.exr", "wb") as file:
    file.write(exr(np.stack([colour[..., i % 3] * (1 - i / 20) for i in range(12)]), names))
PY
export XDG_CACHE_HOME=$work/cache
"$program" '' "$work/colour.npy" -o "$work/float.exr" -d single 2> /dev/null
"$program" '' "$work/colour.npy" -o "$work/half.exr" -d half 2> /dev/null

# seconds FOLDER PROGRAM ARGUMENTS: of a run; what it says goes to $work/said.
seconds() {
  local begin end
  begin=$(date +%s.%N)
  "$2" 'imgaussfilt 2' "$work/$1" -o "$work/out" "${@:3}" -v > "$work/said" 2>&1 ||
    { tail -3 "$work/said" >&2; exit 1; }
  end=$(date +%s.%N)
  rm -rf "$work/out"
  python3 -c "print($end - $begin)"
}
# rate FOLDER PROGRAM ARGUMENTS: files a second
rate() {
  local files
  files=$(find "$work/$1" -type f | wc -l)
  printf ' %8.0f' "$(python3 -c "print($files / min($(seconds "$@"), $(seconds "$@")))")"
}
# row FOLDER COUNT FILE
row() {
  make "$@"
  printf '%-12s %5s files' "$1" "$(find "$work/$1" -type f | wc -l)"
  rate "$1-part" "$program" --device cpu
  rate "$1-part" "$program" --device "$device" --codec cpu
  seconds "$1-part" "$program" --device "$device" --codec device > /dev/null
  rate "$1" "$program" --device "$device" --codec device
  codec=$(sed -n 's/.*--codec: pictures //p' "$work/said")
  rate "$1" "$program" --device auto
  if [ -n "$other" ]; then
    XDG_CACHE_HOME=$work/other-cache rate "$1-part" "$other" --device "$device"
  fi
  echo "  $codec"
  rm -rf "${work:?}/$1" "$work/$1-part"
}

echo "files a second: the CPU; $device, the host's codecs; $device, its own codecs; --device auto${other:+; another program on $device}"
row png-gray 1920 gray.png
row png-colour 1920 colour.png
row png-small 16000 small.png
row tiff-none 384 none.tif
row tiff-lzw 384 lzw.tif
row tiff-deflate 384 deflate.tif
row exr-float 192 float.exr
row exr-half 384 half.exr
row exr-12 192 twelve.exr
row npy 512 gray.npy
