#!/bin/sh
# Does a folder of pictures as an array job of Slurm, a part for each task.
#
#   sbatch [--array=1-N] [SBATCH_OPTION...] slurm.sh PIPELINE INPUT OUTPUT REPORTS [IMPIPE_OPTION...]
#   sh slurm.sh --report REPORTS/JOB
#
# INPUT is a folder, with all below it; OUTPUT gets the results under the same names. Every node has
# to see both, and REPORTS, under the names given here.
#
# A task that Slurm starts again, because its node died or somebody took it away, does what earlier
# tries left. Each try writes REPORTS/JOB/part-PART.try-TRY.pipeline, .json (--summary) and .jsonl
# (--errors); --report adds up the last try of each part: it prints one object, writes it to job.json
# beside them and the inputs that failed to failed.jsonl, and exits with 1 when a part is missing.
#
# sbatch --array=3 --export=ALL,PARTS=8 does the third of eight parts once more. IMPIPE names the
# program where it is not on PATH. A task exits as impipe does: 0 all done, 1 some files failed.
#SBATCH --job-name=impipe
#SBATCH --array=1-8
#SBATCH --cpus-per-task=4
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=impipe-%A_%a.log
set -eu

usage() {
  echo "usage: sbatch [--array=1-N] slurm.sh PIPELINE INPUT OUTPUT REPORTS [IMPIPE_OPTION...]" >&2
  echo "       sh slurm.sh --report REPORTS/JOB" >&2
  exit 2
}

# last_tries: of names one a line, that of each part's last try.
last_tries() {
  awk '{ part = $0; sub(/\.try-.*/, "", part); last[part] = $0 }
       END { for (part in last) print last[part] }' | sort -V
}

report() {
  cd "$1"
  # A try that died may have left half a line.
  find . -name 'part-*.try-*.jsonl' | sort -V | last_tries | tr '\n' '\0' |
    xargs -0r grep -h '' -- | jq -cR 'fromjson? | select(.file)' >failed.jsonl
  # Or half a summary. One run of jq for all, so up to some 40,000 tries.
  find . -name 'part-*.try-*.json' | tr '\n' '\0' | xargs -0r grep -lZ '}$' -- |
    xargs -0 -s 1000000 jq -n '
    [inputs | {try: (input_filename | capture("try-(?<n>[0-9]+)").n | tonumber), told: .}]
    | group_by(.told.shard) | map(max_by(.try)) | map(.told) as $parts
    | ($parts[0].shards // 0) as $count
    | {parts: $count, missing: ([range(1; $count + 1)] - ($parts | map(.shard))),
       stopped: ($parts | map(select(.exit > 1) | .shard)),
       files: ($parts | map(.files) | add // 0), done: ($parts | map(.done) | add // 0),
       skipped: ($parts | map(.skipped) | add // 0), failed: ($parts | map(.failed) | add // 0),
       retries: ($parts | map(.retries) | add // 0), tries: (map(.try + 1) | add // 0),
       bytes_read: ($parts | map(.bytes_read) | add // 0),
       bytes_written: ($parts | map(.bytes_written) | add // 0),
       started: ($parts | map(.started) | min), ended: ($parts | map(.ended) | max),
       hosts: ($parts | map(.host) | unique)}' >job.json
  cat job.json
  jq -e '.parts > 0 and .missing == [] and .stopped == []' job.json >/dev/null && return
  echo "slurm.sh: $1: parts are missing or were stopped" >&2
  return 1
}

if [ "${1:-}" = --report ]; then
  [ $# -eq 2 ] || usage
  report "$2"
  exit
fi
[ $# -ge 4 ] || usage
if [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
  echo "slurm.sh: this is for sbatch with --array=1-N" >&2
  exit 2
fi
if [ -z "${PARTS:-}" ] &&
  [ "$SLURM_ARRAY_TASK_MIN-$SLURM_ARRAY_TASK_MAX" != "1-$SLURM_ARRAY_TASK_COUNT" ]; then
  echo "slurm.sh: the tasks are not 1 to N; --export=ALL,PARTS=N says how many parts there are" >&2
  exit 2
fi
pipeline=$1 input=$2 output=$3 reports=$4/$SLURM_ARRAY_JOB_ID
shift 4
mkdir -p "$reports"
try=$reports/part-$SLURM_ARRAY_TASK_ID.try-${SLURM_RESTART_COUNT:-0}
# In a file no text is taken for an option or a command.
printf '%s\n' "$pipeline" >"$try.pipeline"
# Where Slurm binds no processors, as without task/affinity and cgroups, impipe would take them all.
[ -z "${SLURM_CPUS_PER_TASK:-}" ] || export IMPIPE_THREADS="$SLURM_CPUS_PER_TASK"
# In place of this shell: what Slurm sends before it kills ends impipe in order.
exec "${IMPIPE:-impipe}" -f "$try.pipeline" "$input" -r -o "$output" -u \
  --shard "$SLURM_ARRAY_TASK_ID/${PARTS:-$SLURM_ARRAY_TASK_COUNT}" \
  --summary "$try.json" --errors "$try.jsonl" "$@"
