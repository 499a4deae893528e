#!/bin/sh
# Does a folder of pictures in parts with GNU parallel, on this machine or over ssh on several.
#
#   parts.sh PARTS PIPELINE INPUT OUTPUT REPORTS [PARALLEL_OPTION...]
#
# INPUT is a folder, with all below it. Two parts run at once with -j 2; hosts come with --sshlogin
# a,b --workdir . and have to see INPUT, OUTPUT and REPORTS under the names given here. The same
# command once more does the parts again that failed, and of these what is missing.
# The pipeline stands in REPORTS/pipeline.txt. Exits with the number of parts that failed.
set -eu
if [ $# -lt 5 ]; then
  echo "usage: parts.sh PARTS PIPELINE INPUT OUTPUT REPORTS [PARALLEL_OPTION...]" >&2
  exit 2
fi
parts=$1 pipeline=$2 input=$3 output=$4 reports=$5
shift 5
mkdir -p "$reports"
printf '%s\n' "$pipeline" >"$reports/pipeline.txt"
# parallel replaces {.}, {= perl =} and the like in its command, and leaves alone what it puts there:
# so the texts and names are arguments.
seq "$parts" | parallel --quote --joblog "$reports/parallel.log" --resume-failed "$@" \
  '{5}' -f '{4}/pipeline.txt' -r -o '{3}' -u --shard "{1}/$parts" \
  --summary '{4}/part-{1}.json' --errors '{4}/part-{1}.jsonl' -- '{2}' \
  :::: - ::: "$input" ::: "$output" ::: "$reports" ::: "${IMPIPE:-impipe}"
