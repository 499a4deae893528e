#!/bin/sh
# Submits a folder of pictures to OpenCue with cuecmd: a command, and so a frame, for each part.
#
#   submit.sh PARTS PIPELINE INPUT OUTPUT REPORTS [CUECMD_OPTION...]
#
# INPUT is a folder, with all below it; every host has to see it, OUTPUT and REPORTS under the names
# given here. A frame that OpenCue starts again does what its first try left. The commands stand in
# REPORTS/impipe.cmds, the pipeline in REPORTS/pipeline.txt. Pass --chunk 1, cuecmd's default: in a
# chunk a part with a broken picture would keep the parts behind it from starting.
set -eu
if [ $# -lt 5 ]; then
  echo "usage: submit.sh PARTS PIPELINE INPUT OUTPUT REPORTS [CUECMD_OPTION...]" >&2
  exit 2
fi
quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }
parts=$1 text=$2 input=$(realpath "$3") output=$(realpath -m "$4")
mkdir -p "$5"
reports=$(realpath "$5")
shift 5
# cuecmd runs each line of its file by a shell of its own.
case $input$output$reports${IMPIPE:-} in
  *[[:cntrl:]]*) echo "submit.sh: names with line breaks cannot stand in cuecmd's file" >&2; exit 2 ;;
esac
printf '%s\n' "$text" >"$reports/pipeline.txt"
part=1
while [ "$part" -le "$parts" ]; do
  printf '%s -f %s %s -r -o %s -u --shard %s --summary %s --errors %s\n' \
    "$(quoted "${IMPIPE:-impipe}")" "$(quoted "$reports/pipeline.txt")" "$(quoted "$input")" \
    "$(quoted "$output")" "$part/$parts" \
    "$(quoted "$reports/part-$part.json")" "$(quoted "$reports/part-$part.jsonl")"
  part=$((part + 1))
done >"$reports/impipe.cmds"
exec "${CUECMD:-cuecmd}" "$reports/impipe.cmds" "$@"
