#!/usr/bin/env bash
# Runs clang-tidy with the repository's .clang-tidy over the sources and exits with 1 when it has
# anything to say. Some 20 minutes on two cores; needs a configured build for its compile commands.
#
#   scripts/check_tidy.sh [--build DIR] [FILE...]      default: the newest build that
#                                                    compiles files apart, all of src
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$(grep -Ls /Unity/ build/*/compile_commands.json | xargs -r ls -t | head -n 1 || true)
build=${build%/*}
if [ "${1:-}" = --build ]; then
  build=$2
  shift 2
fi
if [ -z "$build" ]; then
  echo "check_tidy.sh: configure a build first: cmake --preset dev" >&2
  exit 2
fi
tidy=$(command -v clang-tidy-14 || command -v clang-tidy || true)
if [ -z "$tidy" ]; then
  echo "check_tidy.sh: no clang-tidy here (Debian: apt-get install clang-tidy)" >&2
  exit 2
fi
if [ $# -eq 0 ]; then
  mapfile -t files < <(find src -name '*.cpp' | sort)
else
  files=("$@")
fi
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "${IMPIPE_JOBS:-$(nproc)}" "$tidy" -p "$build" --quiet 2>/dev/null
echo "clang-tidy: ${#files[@]} files, nothing to say"
