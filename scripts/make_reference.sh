#!/usr/bin/env bash
# Writes docs/operators.md from the operators' descriptions, and its pictures by running their
# examples.
#
#   scripts/make_reference.sh [IMPIPE]      default: the newest build's program
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh
impipe=${1:-$(ls -t build/*/src/cli/impipe | head -n 1)}
python=$(setup_python)
"$impipe" ops --markdown > docs/operators.md
rm -f docs/images/operators/*.png
"$python" scripts/make_reference_pictures.py "$impipe" docs/images/operators
echo "docs/operators.md: $(grep -c '^### ' docs/operators.md) operators"
