#!/usr/bin/env bash
# What do the compilers of AMD's and Intel's GPUs make of our kernels? Without such a card.
#
#   scripts/vendors.sh [--quick | --table | --search] [--update] [--only NAME,...]
#
# Compiles the pipelines of tests/golden/vendors_pipelines.txt as OpenCL for gfx90a, gfx942, gfx1100
# and gfx1201 (clang-19, rocm-device-libs) and for Gen9, Gen12LP, DG2 and PVC (ocloc), prints a line
# a kernel - registers, spills, local memory, waves a SIMD - and compares them with
# tests/golden/vendors.tsv. Installs those compilers (Debian 12).
#
# --quick   gfx90a alone, in half a minute and without Intel's driver: what the tests run
# --table   the whole table of kernels instead: prints the kernels that spill or are refused
# --search  tries tile, group and local memory of AMD's row of tuning numbers for gfx90a
# --update  writes tests/golden/vendors.tsv
# --only    some of the devices
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1:-} in
  -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
esac
. scripts/setup.sh
setup_main test >&2
case " $* " in *' --quick '* | *' --search '*) ;; *) setup_install "${intel_packages[@]}" >&2 ;; esac
build=${IMPIPE_BUILD:-build/ci}
[ -x "$build/tests/kernel_sources" ] || { setup_build ci && ninja -C "$build" kernel_sources; } >&2
case " $* " in *' --table '*) ninja -C "$build" kernel_texts >&2 ;; esac
exec python3 scripts/vendors.py "$build/tests" "$@"
