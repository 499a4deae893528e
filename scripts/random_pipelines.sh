#!/usr/bin/env bash
# Tries random pipeline texts: no crash, and what parses prints to text that parses to the same.
#
#   scripts/random_pipelines.sh [COUNT [SEED]]
#
# COUNT is a million, SEED 1 unless given. Builds the unit tests in build/ci if they are stale.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-} in
  -h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
esac

build=${IMPIPE_BUILD_DIR:-build/ci}
[ -f "$build/build.ninja" ] || cmake --preset ci -B "$build" >/dev/null
cmake --build "$build" --target unit_tests >&2
IMPIPE_RANDOM_TEXTS=${1:-1000000} IMPIPE_RANDOM_SEED=${2:-1} \
  exec "$build/tests/unit_tests" --gtest_filter='RandomPipelines.*' --gtest_brief=1
