#!/usr/bin/env bash
# Says which C++ files are not as .clang-format makes them, and exits with 1 when there are any.
#
#   scripts/check_format.sh [--fix]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
formatter=${CLANG_FORMAT:-}
for candidate in clang-format-14 clang-format; do
  [ -n "$formatter" ] || formatter=$(command -v "$candidate" || true)
done
if [ -z "$formatter" ]; then
  echo "check_format.sh: no clang-format here (Debian: apt-get install clang-format)" >&2
  exit 2
fi
mapfile -t files < <(find src tests -name '*.cpp' -o -name '*.hpp' -o -name '*.inc')
if [ "${#files[@]}" -eq 0 ]; then
  echo "check_format.sh: no files found" >&2
  exit 2
fi
if [ "${1:-}" = --fix ]; then
  exec "$formatter" -i "${files[@]}"
fi
"$formatter" --dry-run -Werror "${files[@]}"
