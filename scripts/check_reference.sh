#!/usr/bin/env bash
# Checks that docs/operators.md says what the program's operators say.
#
#   scripts/check_reference.sh IMPIPE
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
"$1" ops --markdown | diff -u docs/operators.md - || {
  echo "docs/operators.md is not up to date: run scripts/make_reference.sh" >&2
  exit 1
}
