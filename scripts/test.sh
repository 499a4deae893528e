#!/usr/bin/env bash
# Installs what is missing, builds, runs every test and ends with ctest's summary.
#
#   scripts/test.sh [--sanitize address|thread] [--long] [CTEST_ARGUMENT...]
#
# --sanitize builds in build/asan (address and undefined behaviour) or build/tsan.
# --long     runs the long forms too (2,000 files where 400 are the rule).
# Anything else goes to ctest, such as -R cli. Exits with ctest's status.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh

preset=ci
ctest_arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    --sanitize)
      case ${2:-} in
        address) preset=asan ;;
        thread) preset=tsan ;;
        *)
          echo "test.sh: --sanitize takes address or thread" >&2
          exit 2
          ;;
      esac
      shift
      ;;
    --long) export IMPIPE_LONG_TESTS=1 ;;
    -h | --help)
      sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) ctest_arguments+=("$1") ;;
  esac
  shift
done

setup_main test
setup_build "$preset" -DIMPIPE_PYTHON="$(setup_python)"
exec ctest --test-dir "build/$preset" --output-on-failure -j "$(nproc)" "${ctest_arguments[@]}"
