#!/usr/bin/env bash
# Writes docs/operators.md from the operators' descriptions.
#
#   scripts/make_reference.sh [IMPIPE]      default: the newest build's program
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
impipe=${1:-$(ls -t build/*/src/cli/impipe | head -n 1)}
"$impipe" ops --markdown > docs/operators.md
echo "docs/operators.md: $(grep -c '^### ' docs/operators.md) operators"
