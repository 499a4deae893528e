#!/usr/bin/env bash
# Checks that docs/operators.md says what the program's operators say, and that each has its picture.
#
#   scripts/check_reference.sh IMPIPE
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh
"$1" ops --markdown | diff -u docs/operators.md - || {
  echo "docs/operators.md is not up to date: run scripts/make_reference.sh" >&2
  exit 1
}
"$(setup_python)" scripts/make_reference_pictures.py --check "$1" docs/images/operators
