#!/bin/bash
# Times folders of files from a RAM disk to a RAM disk, on the CPU and on a card, with the host's
# codecs and with the card's. Prints a line a folder: files a second, best of three.
# usage: scripts/gpu_files.sh PROGRAM [DEVICE [SHARE]]; SHARE: of the files, 1 is all of them
set -eu
program=$1 device=${2:-cuda:0} share=${3:-1}
work=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
mkdir "$XDG_CACHE_HOME"

# make FOLDER COUNT FILE: as many copies of a file as that, as links.
make() {
  mkdir "$work/$1"
  local count
  count=$(python3 -c "print(max(8, round($2 * $share)))")
  for ((i = 0; i < count; ++i)); do cp "$work/$3" "$work/$1/$i.${3##*.}"; done
}

python3 - "$work" <<'PY'
import sys
import numpy as np
from PIL import Image

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
PY
"$program" '' "$work/colour.npy" -o "$work/float.exr" -d single 2> /dev/null
"$program" '' "$work/colour.npy" -o "$work/half.exr" -d half 2> /dev/null
make png-gray 960 gray.png
make png-colour 960 colour.png
make png-small 8000 small.png
make tiff-none 384 none.tif
make tiff-lzw 256 lzw.tif
make tiff-deflate 384 deflate.tif
make exr-float 96 float.exr
make exr-half 192 half.exr
make npy 256 gray.npy

# rate FOLDER ARGUMENTS: files a second
rate() {
  local best=0 files said
  files=$(find "$work/$1" -type f | wc -l)
  for _ in 1 2 3; do
    local begin end
    begin=$(date +%s.%N)
    said=$("$program" 'imgaussfilt 2' "$work/$1" -o "$work/out" "${@:2}" -v 2>&1) ||
      { echo "$said" | tail -3; exit 1; }
    end=$(date +%s.%N)
    rm -rf "$work/out"
    best=$(python3 -c "print(max($best, $files / ($end - $begin)))")
  done
  codec=$(echo "$said" | sed -n 's/.*--codec: pictures //p')
  printf ' %8.0f' "$best"
}

echo "files a second: the CPU; $device, the host's codecs; $device, its own codecs"
for folder in png-gray png-colour png-small tiff-none tiff-lzw tiff-deflate exr-float exr-half npy; do
  printf '%-12s %5s files' "$folder" "$(find "$work/$folder" -type f | wc -l)"
  rate "$folder" --device cpu
  rate "$folder" --device "$device" --codec cpu
  codec=
  rate "$folder" --device "$device" --codec device
  echo "  $codec"
done
