#!/usr/bin/env bash
# Fuzzes the pipeline language and the expressions with libFuzzer, address and undefined-behaviour
# sanitizers.
#
#   scripts/fuzz.sh [SECONDS]
#
# SECONDS is 60 unless given. Needs clang with its libFuzzer (Debian: clang libclang-rt-14-dev).
# What it finds to be new is kept in build/fuzz/corpus; a crash leaves its input in build/fuzz and
# the exit status is not 0.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-} in
  -h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
esac

seconds=${1:-60}
build=build/fuzz
compiler=${CXX_CLANG:-clang++}
if ! command -v "$compiler" >/dev/null; then
  echo "fuzz.sh: $compiler is not here; install clang, or name it in CXX_CLANG" >&2
  exit 2
fi

sources=(
  src/core/error.cpp src/core/printable.cpp src/core/text.cpp src/core/expression*.cpp src/core/row_evaluator.cpp
  src/pipeline/parser.cpp src/pipeline/script.cpp
  tests/support/language_laws.cpp tests/fuzz/language_fuzz.cpp
)
mkdir -p "$build/corpus"
objects=()
for source in "${sources[@]}"; do
  object=$build/$(basename "$source" .cpp).o
  objects+=("$object")
  # Dependencies are few and small: everything is compiled again when anything is newer.
  if [ ! -f "$object" ] || [ -n "$(find src/core src/pipeline tests/support tests/fuzz \
    -name '*.[ch]pp' -newer "$object" -print -quit)" ]; then
    "$compiler" -std=c++20 -O1 -g -Isrc -Itests -fsanitize=fuzzer-no-link,address,undefined \
      -fno-sanitize-recover=undefined -fno-omit-frame-pointer -c "$source" -o "$object"
  fi
done
"$compiler" -fsanitize=fuzzer,address,undefined "${objects[@]}" -o "$build/language_fuzz"
exec "$build/language_fuzz" -max_total_time="$seconds" -max_len=2000 -timeout=10 \
  -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$build/" \
  -dict=tests/fuzz/language.dict "$build/corpus" tests/fuzz/corpus
