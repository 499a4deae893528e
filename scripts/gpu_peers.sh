#!/usr/bin/env bash
# impipe on a card beside the libraries that do the same, in one run: scripts/compare_peers.py where
# nothing can be installed.
#
#   scripts/gpu_peers.sh --pack DIR              what a bare machine lacks, into two archives
#   scripts/gpu_peers.sh [--from DIR] [--out DIR] [--device ID] [--impipe PATH] [OPTION...]
#
# --pack    downloads wheels for Python 3.12 and makes DIR/card.tar.xz (cuCIM, CV-CUDA with the
#           kernels of one kind of card, kornia-rs, pyclesperanto) and DIR/cpu.tar.xz (vips, and
#           GraphicsMagick where it is installed). Needs pip and the network.
# --arch N  with --pack: the card's compute capability (90)
# --from    where these archives are; they are unpacked once, to /tmp/peers
# --out     where peers.json, peers.txt and the libraries' logs go (build/gpu)
#
# OPTION: of compare_peers.py, behind --device: --peers, --kinds, --sizes, --match, --seconds, ...
# CuPy, PyTorch, the CUDA toolkit (nvcc, NPP, CUB), OpenCV, scikit-image and Pillow are taken from
# the machine; what is not there is said in the table.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pack='' from='' out=build/gpu device=cuda:0 impipe='' arch=90 options=()
while [ $# -gt 0 ]; do
  case $1 in
    --pack | --from | --out | --device | --impipe | --arch)
      [ $# -gt 1 ] || { echo "gpu_peers.sh: $1 takes a value" >&2; exit 2; }
      declare "${1#--}=$2"
      shift
      ;;
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) options+=("$1") ;;
  esac
  shift
done

# wheels FOLDER NAME...: the newest of each that runs on Python 3.12 and a Linux of 2024.
wheels() {
  local folder=$1 glibc platforms=(--platform manylinux2014_x86_64)
  shift
  for glibc in 17 24 27 28 31 34 35 39; do
    platforms+=(--platform "manylinux_2_${glibc}_x86_64")
  done
  python3 -m pip download --quiet --disable-pip-version-check --only-binary=:all: --no-deps \
    --python-version 3.12 --implementation cp "${platforms[@]}" --dest "$folder" "$@"
}

# unpacked FOLDER WHEEL...
unpacked() {
  local folder=$1 wheel
  shift
  for wheel in "$@"; do python3 -m zipfile -e "$wheel" "$folder" || return 1; done
}

# A program with the libraries that another Linux may lack, and a script that starts it with them.
packed_program() {
  local program=$1 folder=$2 library
  mkdir -p "$folder/bin" "$folder/lib"
  cp "$(command -v "$program")" "$folder/lib/$program.real"
  ldd "$folder/lib/$program.real" | awk '/=> \//{print $3}' |
    grep -Ev '/(ld-linux|libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s)[.-]' |
    while read -r library; do cp -L "$library" "$folder/lib"; done
  cat >"$folder/bin/$program" <<SCRIPT
#!/bin/sh
here=\$(dirname "\$0")/../lib
LD_LIBRARY_PATH=\$here exec "\$here/$program.real" "\$@"
SCRIPT
  chmod +x "$folder/bin/$program"
}

make_archives() {
  local made
  stage=$(mktemp -d)
  trap 'rm -rf "$stage"' EXIT
  mkdir -p "$1" "$stage/wheels" "$stage/card/site" "$stage/cpu/site"
  wheels "$stage/wheels" cucim-cu13 cvcuda-cu13 kornia-rs pyclesperanto pyclesperanto-opencl \
    toolz pyvips-binary cffi pycparser &&
    python3 -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir \
      "$stage/wheels" pyvips || exit 1
  unpacked "$stage/card/site" "$stage"/wheels/{cucim,cvcuda,kornia,pyclesperanto,toolz}*.whl &&
    unpacked "$stage/cpu/site" "$stage"/wheels/{pyvips,cffi,pycparser}*.whl || exit 1
  # Without readers of slides, tests, other Pythons' modules and other cards' kernels.
  (
    cd "$stage/card/site" || exit 1
    rm -rf cucim/clara cucim_cu13.libs
    find . -type d -name tests -prune -exec rm -r {} +
    find cvcuda -name '_cvcuda.*.so' ! -name '*cpython-312-*' -delete
  )
  for made in "$stage"/card/site/cvcuda_cu13.libs/libcvcuda-*.so*; do
    python3 scripts/peers/one_card.py "$made" "$arch" || exit 1
  done
  if command -v gm >/dev/null; then packed_program gm "$stage/cpu"; fi
  for made in card cpu; do
    tar -C "$stage/$made" --owner=0 --group=0 --sort=name -cf - . |
      xz -9 -T1 >"$1/$made.tar.xz"
    echo "$1/$made.tar.xz: $(($(stat -c %s "$1/$made.tar.xz") / 100000))e5 bytes"
  done
}

if [ -n "$pack" ]; then
  make_archives "$pack"
  exit
fi

there=/tmp/peers
if [ -n "$from" ]; then
  for archive in "$from"/card.tar.xz "$from"/cpu.tar.xz; do
    name=$(basename "$archive" .tar.xz)
    [ -f "$archive" ] && [ ! -e "$there/$name.done" ] || continue
    mkdir -p "$there" && tar -C "$there" -xf "$archive" && touch "$there/$name.done" ||
      echo "gpu_peers.sh: $archive cannot be unpacked"
  done
fi
export PATH=$there/bin:/usr/local/cuda/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH=$there/site${PYTHONPATH:+:$PYTHONPATH}
# NVIDIA's OpenCL, where it is not registered.
if [ ! -e /etc/OpenCL/vendors/nvidia.icd ] && ldconfig -p | grep -q libnvidia-opencl.so.1; then
  mkdir -p "$there/vendors" && echo libnvidia-opencl.so.1 >"$there/vendors/nvidia.icd"
  export OCL_ICD_VENDORS=$there/vendors
  mkdir -p /etc/OpenCL/vendors 2>/dev/null &&
    cp "$there/vendors/nvidia.icd" /etc/OpenCL/vendors/ 2>/dev/null
fi
mkdir -p "$out"
[ -n "$impipe" ] || impipe=$(ls -t bin/impipe build/*/src/cli/impipe 2>/dev/null | head -n 1)
[ -x "$impipe" ] || { echo "gpu_peers.sh: there is no impipe; --impipe PATH" >&2; exit 2; }
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader 2>/dev/null
python3 scripts/compare_peers.py --device "$device" --impipe "$impipe" --logs "$out" \
  --json "$out/peers.json" "${options[@]}" 2>&1 | tee "$out/peers.txt"
