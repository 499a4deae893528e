#!/usr/bin/env bash
# Installs what is missing, builds a release, finds the edges in a folder of pictures and makes a
# before/after contact sheet.
#
#   scripts/demo.sh [DIR]      DIR: your pictures; without it, sample pictures are made
#
# Everything it writes is in demo/.
set -euo pipefail
pipeline='imadjust | conv2 k7 | edge prewitt'

if [ $# -gt 1 ] || [[ ${1:-} == -* ]]; then
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
pictures=${1:+$(realpath -- "$1")}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh

setup_main build
python=$(setup_python)
setup_build release --target impipe
if [ -z "$pictures" ]; then
  pictures=demo/pictures
  "$python" scripts/make_samples.py "$pictures"
fi

echo "impipe '$pipeline' $pictures -o demo/edges"
failed=0
build/release/src/cli/impipe "$pipeline" "$pictures" -o demo/edges || failed=$?
"$python" scripts/contact_sheet.py "$pictures" demo/edges demo/contact-sheet.png
echo "results:        $PWD/demo/edges"
echo "before, after:  $PWD/demo/contact-sheet.png"
exit "$failed"
