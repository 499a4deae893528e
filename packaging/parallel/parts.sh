#!/bin/sh
# Does a folder of pictures in parts with GNU parallel, on this machine or over ssh on several.
#
#   parts.sh PARTS PIPELINE INPUT OUTPUT REPORTS [PARALLEL_OPTION...]
#
# INPUT is a folder, with all below it. Two parts run at once with -j 2; hosts come with --sshlogin
# a,b --workdir . and have to see INPUT, OUTPUT and REPORTS under the names given here. The same
# command once more does the parts again that failed, and of these what is missing.
# Exits with the number of parts that failed.
set -eu
if [ $# -lt 5 ]; then
  echo "usage: parts.sh PARTS PIPELINE INPUT OUTPUT REPORTS [PARALLEL_OPTION...]" >&2
  exit 2
fi
parts=$1 pipeline=$2 input=$3 output=$4 reports=$5
shift 5
mkdir -p "$reports"
seq "$parts" | parallel --quote --joblog "$reports/parallel.log" --resume-failed "$@" \
  "${IMPIPE:-impipe}" "$pipeline" "$input" -r -o "$output" -u --shard "{}/$parts" \
  --summary "$reports/part-{}.json" --errors "$reports/part-{}.jsonl"
