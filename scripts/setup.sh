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
  ocl-icd-opencl-dev opencl-headers       # OpenCL loader and headers
)
python_packages=(python3 python3-numpy python3-pil)    # sample pictures, contact sheet, oracle
test_packages=(libgtest-dev libgmock-dev pocl-opencl-icd patchelf xz-utils clang-format
  chromium                              # looks at the pages of --profile=html and bench --html
  libjxl-tools libavif-bin libheif-examples libopenjp2-tools openimageio-tools ffmpeg  # judge our files
  libimage-exiftool-perl                # puts metadata into files
  zsh fish                              # take up the completions
  jq parallel)                          # the commands of docs/farm.md

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

# Prints a python that has numpy and Pillow: the one on PATH may be another than Debian's.
setup_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3 /usr/bin/python3; do
    [ -n "$candidate" ] || continue
    if "$candidate" -c 'import numpy, PIL' 2>/dev/null; then
      command -v "$candidate"
      return 0
    fi
  done
  setup_say "no python3 with numpy and Pillow found"
  return 1
}

# Prints the root of a CUDA toolkit (nvcc, or NVRTC alone), or nothing.
setup_cuda_root() {
  local root nvcc
  nvcc=$(command -v nvcc 2>/dev/null || true)
  [ -z "$nvcc" ] || nvcc=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
  for root in "${CUDA_HOME:-}" "$nvcc" /usr/local/cuda; do
    [ -n "$root" ] || continue
    if [ -x "$root/bin/nvcc" ] || compgen -G "$root/lib*/libnvrtc.so*" >/dev/null; then
      echo "$root"
      return 0
    fi
  done
}

# Says which device toolkits and drivers are here; a missing one only leaves its backend out.
setup_report_backends() {
  local cuda
  setup_say "cpu backend: always there"
  cuda=$(setup_cuda_root)
  if [ -z "$cuda" ]; then
    setup_say "cuda backend: left out (no CUDA toolkit on PATH, in CUDA_HOME or /usr/local/cuda)"
  elif ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L >/dev/null 2>&1; then
    setup_say "cuda backend: left out (toolkit in $cuda, but no NVIDIA driver or device)"
  else
    setup_say "cuda backend: toolkit in $cuda, $(nvidia-smi -L | head -n 1 | sed 's/ (UUID.*//')"
  fi
  if ! compgen -G '/etc/OpenCL/vendors/*.icd' >/dev/null; then
    setup_say "opencl backend: left out (no driver in /etc/OpenCL/vendors)"
  else
    setup_say "opencl backend: drivers $(basename -a /etc/OpenCL/vendors/*.icd | tr '\n' ' ')"
  fi
}

# setup_main build|test: everything for a release build, or for the tests too.
setup_main() {
  local packages=("${build_packages[@]}" "${python_packages[@]}")
  case ${1:-test} in
    build) ;;
    test) packages+=("${test_packages[@]}") ;;
    *)
      setup_say "unknown part '$1': build or test"
      return 2
      ;;
  esac
  setup_install "${packages[@]}" && setup_report_backends
}

# setup_build PRESET [CMAKE_ARGUMENT...]: configures and builds, through ccache where it is.
setup_build() {
  local preset=$1
  shift
  if command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  fi
  cmake --preset "$preset" "$@" && cmake --build --preset "$preset"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  setup_main "$@"
fi
