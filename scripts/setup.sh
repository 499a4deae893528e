#!/usr/bin/env bash
# Installs what the build, the tests and the demo need and is missing, and says what is left out.
#
#   scripts/setup.sh [build|test]
#
# Sourced by demo.sh and test.sh (it then only defines functions). A second run finds everything
# in place and changes nothing.

# Packages of Debian 12, and what each is for.
build_packages=(
  g++ cmake ninja-build ccache            # compiler and build
  libcli11-dev libspdlog-dev libfmt-dev   # arguments, logs, text
  nlohmann-json3-dev                      # reports
  libpng-dev libjpeg-dev libtiff-dev      # decoding and encoding
  libwebp-dev zlib1g-dev libdeflate-dev
  libopenexr-dev
  libjxl-dev libavif-dev libopenjp2-7-dev libgif-dev libheif-dev
  libraw-dev libcfitsio-dev libopencv-imgcodecs-dev libgdcm-dev libopenslide-dev
  libblosc-dev libzstd-dev liblcms2-dev libopencolorio-dev
  ocl-icd-opencl-dev opencl-headers       # OpenCL loader and headers
)
python_packages=(python3 python3-numpy python3-pil)    # sample pictures, contact sheet, oracle
test_packages=(libgtest-dev libgmock-dev pocl-opencl-icd patchelf xz-utils clang-format python3-pip
  chromium                              # looks at the pages of --profile=html and impipe-bench --html
  libjxl-tools libavif-bin libheif-examples libopenjp2-tools openimageio-tools openexr ffmpeg
  libgs-common                          # has a profile of CMYK
  python3-pyopencolorio                 # judges conversions of colours
  dcraw libcfitsio-bin                  # judge our files
  netpbm                                # makes and judges PAMs
  libimage-exiftool-perl                # puts metadata into files
  python3-tifffile                      # writes and reads stacks
  python3-pydicom                       # writes and reads DICOMs
  openslide-tools                       # judge whole-slide images
  python3-zarr                          # writes and reads Zarrs
  zsh fish                              # take up the completions
  jq parallel)                          # the commands of docs/farm.md

# Compilers of GPUs that need no such card (scripts/vendors.sh). Intel's comes with an OpenCL driver,
# which every program that asks for GPUs loads from then on: it is no test's.
vendor_packages=(clang-19 rocm-device-libs)
intel_packages=(intel-opencl-icd)

setup_say() { printf 'setup: %s\n' "$*" >&2; }

setup_is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# setup_install PACKAGE...: installs those that are missing, as root or with sudo.
setup_install() {
  local missing=() package as_root=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    setup_say "no apt here: these Debian packages, or their equals, have to be there: $*"
    return 0
  fi
  for package in "$@"; do
    setup_is_installed "$package" || missing+=("$package")
  done
  # A cmake, ninja or compiler that did not come from a package serves as well.
  local needed=()
  for package in "${missing[@]}"; do
    case $package in
      cmake | ccache | g++) command -v "$package" >/dev/null && continue ;;
      ninja-build) command -v ninja >/dev/null && continue ;;
    esac
    needed+=("$package")
  done
  [ ${#needed[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      setup_say "missing: ${needed[*]}; run this as root, or install sudo"
      return 1
    fi
    as_root=(sudo)
  fi
  setup_say "installing ${needed[*]}"
  "${as_root[@]}" apt-get update -qq >&2 &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "${needed[@]}" >&2
}

# setup_python [MODULE]: prints a python that has numpy, Pillow and the module: the one on PATH may
# be another than Debian's.
setup_python() {
  local candidate modules="numpy, PIL${1:+, $1}"
  for candidate in "${PYTHON:-}" python3 /usr/bin/python3; do
    [ -n "$candidate" ] || continue
    if "$candidate" -c "import $modules" 2>/dev/null; then
      command -v "$candidate"
      return 0
    fi
  done
  setup_say "no python3 that can import $modules found"
  return 1
}

# setup_library NAME...: prints the first of these libraries that the dynamic linker would find.
setup_library() {
  local name folder folders found
  IFS=: read -ra folders <<<"${LD_LIBRARY_PATH:-}"
  for name in "$@"; do
    for folder in "${folders[@]}"; do
      [ -z "$folder" ] || [ ! -e "$folder/$name" ] || { echo "$folder/$name"; return 0; }
    done
    found=$(PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null |
      awk -v name="$name" '$1 == name {print $NF; exit}' || true)
    [ -z "$found" ] || { echo "$found"; return 0; }
  done
}

# Prints where NVRTC, NVIDIA's run-time compiler, is, or nothing: the places where the program looks
# (compiler_places in src/backends/cuda/api.cpp). The fixed ones lie below SETUP_ROOT, for tests.
setup_nvrtc() {
  local found root
  if [ -n "${IMPIPE_NVRTC:-}" ]; then
    case $IMPIPE_NVRTC in
      /*) [ ! -e "$IMPIPE_NVRTC" ] || echo "$IMPIPE_NVRTC" ;;
      *) setup_library "$IMPIPE_NVRTC" ;;
    esac
    return 0
  fi
  found=$(setup_library libnvrtc.so.13 libnvrtc.so.12 libnvrtc.so.11.2 libnvrtc.so)
  local places=()
  for root in "${CUDA_HOME:-}" "${CUDA_PATH:-}" "${SETUP_ROOT:-}/usr/local/cuda" \
    "${SETUP_ROOT:-}"/usr/local/cuda-*; do
    [ -z "$root" ] || places+=("$root"/lib64/libnvrtc.so{,.1[0-9]*})
  done
  for root in "${VIRTUAL_ENV:-}" "${CONDA_PREFIX:-}" "${HOME:+$HOME/.local}" \
    "${SETUP_ROOT:-}/usr/local" "${SETUP_ROOT:-}/usr"; do
    [ -z "$root" ] ||
      places+=("$root"/lib/python3*/{site,dist}-packages/nvidia/*/lib/libnvrtc.so.1[0-9]*)
  done
  for root in "${places[@]}"; do
    [ -z "$found" ] && [ -e "$root" ] && found=$root
  done
  [ -z "$found" ] || echo "$found"
}

# Says what the program can use here. Every backend is built in, whatever this machine has: drivers
# and compilers are opened when the program runs, so what counts is the machine that it runs on.
setup_report_backends() {
  local driver nvrtc loader card drivers=()
  setup_say "cpu: built in; needs nothing"

  setup_say "cuda: built in, without a CUDA toolkit; the program opens NVIDIA's driver and NVRTC when it runs"
  driver=$(setup_library libcuda.so.1)
  nvrtc=$(setup_nvrtc)
  setup_say "cuda: here: driver ${driver:-missing (libcuda.so.1)}, NVRTC ${nvrtc:-missing (libnvrtc.so)}"
  if [ -n "$driver" ]; then
    card=$(nvidia-smi -L 2>/dev/null | head -n 1 | sed 's/ (UUID.*//' || true)
    setup_say "cuda: here: ${card:-nvidia-smi names no card}"
  fi
  if [ -z "$driver" ] || [ -z "$nvrtc" ]; then
    setup_say "cuda: a machine that is to use it needs the driver (Debian: libcuda1), and NVRTC from a" \
      "package (Debian: libnvrtc11.2; NVIDIA: cuda-nvrtc-12-*) or from PyPI (pip install" \
      "nvidia-cuda-nvrtc; for drivers of CUDA 12 nvidia-cuda-nvrtc-cu12), or instead of NVRTC a cache" \
      "that 'impipe cache warm PIPELINE' filled on such a machine (IMPIPE_CACHE_DIR)"
  fi

  loader=$(setup_library libOpenCL.so.1)
  if compgen -G "${SETUP_ROOT:-}/etc/OpenCL/vendors/*.icd" >/dev/null; then
    drivers=("${SETUP_ROOT:-}"/etc/OpenCL/vendors/*.icd)
  fi
  setup_say "opencl: built in; the program opens the loader and its drivers when it runs"
  setup_say "opencl: here: loader ${loader:-missing (Debian: ocl-icd-libopencl1)}, drivers" \
    "$([ ${#drivers[@]} -eq 0 ] && echo 'none in /etc/OpenCL/vendors' || basename -a "${drivers[@]}" | paste -sd ' ')"
  setup_say "what the built program can use: impipe devices"
}

# setup_main build|test: everything for a release build, or for the tests too.
setup_main() {
  local packages=("${build_packages[@]}" "${python_packages[@]}")
  case ${1:-test} in
    build) ;;
    test) packages+=("${test_packages[@]}" "${vendor_packages[@]}") ;;
    *)
      setup_say "unknown part '$1': build or test"
      return 2
      ;;
  esac
  setup_install "${packages[@]}" && setup_report_backends
}

# setup_build PRESET [--target NAME] [CMAKE_ARGUMENT...]: configures and builds, through ccache where
# it is.
setup_build() {
  local preset=$1 target=()
  shift
  if [ "${1:-}" = --target ]; then
    target=(--target "$2")
    shift 2
  fi
  if command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  fi
  cmake --preset "$preset" "$@" && cmake --build --preset "$preset" "${target[@]}"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  setup_main "$@"
fi
