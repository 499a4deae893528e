#!/usr/bin/env bash
# Runs an array job on a Slurm of four nodes on this machine, kills one of them midway, and compares
# what comes out with what one process makes.
#
#   scripts/test_farm.sh [--build DIR] [--files N]
#
# --build  the build folder to take impipe from: by default build/ci, or else build/release
# --files  how many pictures: by default 2,000
#
# Debian 12, as root: slurm-wlm, munge, jq and what makes pictures are installed where they are
# missing. The Slurm has its own settings, key, ports and folder, which goes at the end with every
# process; one that the system has is left alone. It takes some minutes. The commands are those of
# docs/farm.md (blocks marked "farm"); what it printed last is docs/farm-test.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh
. scripts/page_commands.sh
page_kind=farm

build='' files=2000
while [ $# -gt 0 ]; do
  case $1 in
    --build | --files)
      [ $# -gt 1 ] || { echo "test_farm.sh: $1 takes a value" >&2; exit 2; }
      declare "${1#--}=$2"
      shift
      ;;
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) echo "test_farm.sh: unknown argument $1" >&2; exit 2 ;;
  esac
  shift
done
[ "$(id -u)" = 0 ] || { echo "test_farm.sh: this needs root" >&2; exit 2; }
for candidate in build/ci build/release; do
  [ -n "$build" ] || [ ! -x "$candidate/src/cli/impipe" ] || build=$candidate
done
[ -x "$build/src/cli/impipe" ] || { echo "test_farm.sh: no impipe in '$build'; build it" >&2; exit 2; }
setup_install slurm-wlm munge jq "${python_packages[@]}"
python=$(setup_python)
checkout=$PWD
PATH=$(cd "$build/src/cli" && pwd):$PATH
export PATH

folder=$(mktemp -d -t impipe-farm.XXXXXX)
chmod 711 "$folder" # munged wants its socket to be within everybody's reach
export SLURM_CONF=$folder/slurm.conf
daemons=()

# ours: the processes of this Slurm and of its jobs.
ours() {
  local environ
  for environ in /proc/[0-9]*/environ; do
    if tr '\0' '\n' 2>/dev/null <"$environ" | grep -qxF "SLURM_CONF=$SLURM_CONF"; then
      basename "$(dirname "$environ")"
    fi
  done 2>/dev/null
}

tear_down() {
  local status=$? process
  trap - EXIT
  cd /
  if [ "$status" != 0 ]; then
    tail -n 20 "$folder"/slurmctld.log "$folder"/node*.log "$folder"/work/*.log >&2 2>/dev/null || true
  fi
  for process in "${daemons[@]}" $(ours); do
    [ "$process" = $$ ] || kill -KILL "$process" 2>/dev/null || true
  done
  sleep 0.5 # nobody writes there any more
  rm -rf "$folder"
  exit "$status"
}
trap tear_down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# wait_until SECONDS WHAT COMMAND...
wait_until() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || fail "waited too long until $what"
    sleep 0.1
  done
}
# --- a Slurm of four nodes

mkdir "$folder/work" "$folder/state"
(umask 077 && head -c 1024 /dev/urandom >"$folder/munge.key")
host=$(hostname -s)
read -r -a ports < <("$python" -c '
import socket
sockets = [socket.socket() for _ in range(5)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))')
{
  cat <<EOF
ClusterName=farm
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# A task that is requeued waits as long as a credential lives: two minutes by default.
AuthInfo=socket=$folder/munge.socket,cred_expire=5
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SlurmdTimeout=10
SlurmctldTimeout=10
MessageTimeout=5
KillWait=3
ReturnToService=2
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/%n.log
MailProg=/bin/true
EOF
  for node in 1 2 3 4; do
    echo "NodeName=node$node NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[node]} CPUs=4"
  done
  echo 'PartitionName=farm Nodes=ALL Default=YES MaxTime=INFINITE State=UP'
} >"$SLURM_CONF"

munged --foreground --socket="$folder/munge.socket" --key-file="$folder/munge.key" \
  --log-file="$folder/munged.log" --pid-file="$folder/munged.pid" \
  --seed-file="$folder/munged.seed" >"$folder/munged.out" 2>&1 &
daemons+=($!)
disown # bash need not tell that it was killed
wait_until 20 'munged answers' munge --socket="$folder/munge.socket" --no-input
slurmctld -D -f "$SLURM_CONF" >"$folder/slurmctld.out" 2>&1 &
daemons+=($!)
disown
declare -A slurmd
start_node() {
  slurmd -D -N "$1" -f "$SLURM_CONF" >"$folder/$1.out" 2>&1 &
  slurmd[$1]=$!
  daemons+=($!)
  disown
}
for node in node1 node2 node3 node4; do start_node "$node"; done
all_idle() { [ "$(sinfo -h -o '%t %D')" = 'idle 4' ]; }
wait_until 60 'four nodes are idle' all_idle

# --- pictures, of which some are broken

cd "$folder/work"
ln -s "$checkout/scripts/farm" farm
"$python" - "$files" <<'EOF'
import os
import sys

import numpy as np
from PIL import Image

count = int(sys.argv[1])
y, x = np.mgrid[0:240, 0:320]
broken = []
for i in range(count):
    breaks = i % 77 == 20
    extension = "png" if breaks else ("png", "png", "tif", "jpg")[i % 4]
    name = f"renders/{i % 8}/shot.{i:04}.{extension}"
    os.makedirs(os.path.dirname(name), exist_ok=True)
    rng = np.random.default_rng(i)
    planes = [127 + 100 * np.sin(x / (9 + i % 50) + c) * np.cos(y / (7 + c)) for c in range(3)]
    pixels = np.stack(planes, axis=-1) + rng.normal(0, 6, (240, 320, 3))
    Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(name, compress_level=1)
    if breaks and i % 2:  # a PNG that ends midway
        os.truncate(name, os.path.getsize(name) // 2)
    elif breaks:  # a text by the name of a PNG
        with open(name, "w", encoding="utf-8") as file:
            file.write("no picture\n")
    if breaks:
        broken.append(name)
with open("broken.txt", "w", encoding="utf-8") as file:
    file.writelines(f"{name}\n" for name in sorted(broken))
EOF

# compare_failures JOB: each broken input is named once.
compare_failures() {
  jq -r .file "reports/$1/failed.jsonl" | sort >"$folder/named.txt"
  diff broken.txt "$folder/named.txt" >&2 || fail "the failures named are not the broken inputs"
  echo "failed.jsonl: $(wc -l <broken.txt) inputs, each once, and they are the broken ones"
}
outputs() { find "$1" -type f ! -name '.*' 2>/dev/null | wc -l; }
has_outputs() { [ "$(outputs "$1")" -ge "$2" ]; }
no_jobs() { [ -z "$(squeue -h)" ]; }
# tasks_of NODE: the processes of its tasks, and those that look after them.
tasks_of() {
  local process
  for process in $(ours); do
    if tr '\0' '\n' 2>/dev/null <"/proc/$process/environ" | grep -qx "SLURMD_NODENAME=$1"; then
      awk '/^PPid/ {print $2}' "/proc/$process/status"
      echo "$process"
    fi
  done | sort -u
}
part_on() { squeue -h --array -w "$1" -t R -o %K | head -n 1; }
# table JOB: how each part ended.
table() {
  scontrol -o show job "$1" | grep -o '\(ArrayTaskId\|Restarts\|JobState\|ExitCode\|BatchHost\)=[^ ]*' |
    sed 's/.*=//' | paste - - - - - | sort -n |
    awk 'BEGIN { print "part state     restarts exit node" }
         { printf "%-4s %-9s %-8s %-4s %s\n", $1, $2, $3, $4, $5 }'
}
# watch_results REFERENCE OUTPUT: reads whatever is there under its name until told to stop.
watch_results() {
  rm -f "$folder/stop"
  "$python" - "$folder/$1.sha256" "$2" "$folder/stop" >"$folder/watched" <<'EOF' &
import hashlib
import os
import sys

reference, output, stop = sys.argv[1:]
with open(reference, encoding="utf-8") as file:
    expected = {line[66:].rstrip("\n"): line[:64] for line in file}
looks = 0
while not os.path.exists(stop):
    for base, _, names in os.walk(output):
        for name in names:
            if name.startswith(".impipe-"):
                continue
            path = os.path.join(base, name)
            with open(path, "rb") as file:
                told = hashlib.sha256(file.read()).hexdigest()
            key = "./" + os.path.relpath(path, output)
            if told != expected[key]:
                sys.exit(f"{key} is not whole")
            looks += 1
print(f"meanwhile {looks} looks at results by their names found each of them whole")
EOF
  watcher=$!
}
end_watch() {
  touch "$folder/stop"
  wait "$watcher" || fail "a result was not whole: $(cat "$folder/watched")"
  cat "$folder/watched"
}

say "$files pictures, $(wc -l <broken.txt) of them broken; a Slurm of four nodes"
echo "# $(impipe --version), $(. /etc/os-release && echo "$PRETTY_NAME"), $(nproc) processors"
show 'sinfo --version'
show "sinfo --format='%P %D %t %N'"

say 'What one process makes of them'
code=0
show "impipe 'imbilatfilt | imsharpen' renders -r -o reference 2>reference.log" || code=$?
echo "exit code $code"
[ "$code" = 1 ] || fail 'broken inputs should be exit code 1'
hashes reference >"$folder/reference.sha256"

say 'An array job; one task is taken away, later a node dies with its tasks'
run_block submit
wait_until 120 'some results are there' has_outputs sharp $((files / 20))
run_block requeue
wait_until 120 'more results are there' has_outputs sharp $((files / 5))
part=$(part_on node2)
[ -n "$part" ] || fail 'no task runs on node2'
dying=$(tasks_of node2)
# temporaries_of PROCESS...: the results that they are writing.
temporaries_of() {
  local process
  for process in "$@"; do
    find "/proc/$process/fd" -lname '*/.impipe-*.tmp' -printf '%l\n' 2>/dev/null || true
  done | sort -u
}
# The worst moment: in the midst of writing.
halt_midway() {
  kill -STOP $dying
  [ -n "$(temporaries_of $dying)" ] || { kill -CONT $dying && return 1; }
}
wait_until 60 'the task on node2 is writing' halt_midway
left=$(temporaries_of $dying)
kill -KILL "${slurmd[node2]}" $dying
echo "# killed: slurmd of node2 and its task (part $part), with $(outputs sharp) results there"
has_ended() { [ -z "$(tasks_of node2)" ]; }
wait_until 10 'the task on node2 has ended' has_ended
for file in $left; do
  if [ -e "$file" ]; then echo "# it left $(stat -c %s "$file") bytes in a temporary"; fi
done
wait_until 60 'node2 is down' sh -c '[ "$(sinfo -h -n node2 -o %t)" = "down*" ]'
run_block watch
wait_until 600 'all tasks have ended' no_jobs
table "$job"
run_block report
echo "# the report of the job that waited for them all:"
diff report.log "reports/$job/job.json" && echo 'report.log: the same'

say 'What the tries of the part of the dead node and of the part that was taken away did'
show "jq -c '{shard, done, skipped, failed, exit}' reports/\$job/part-1.try-*.json"
show "jq -c '{shard, done, skipped, failed, exit}' reports/\$job/part-$part.try-*.json"
jq -e '.done > 0 and .skipped > 0' "reports/$job/part-$part.try-1.json" >/dev/null ||
  fail "the second try of part $part did not go on with what the first had left"
[ ! -e "reports/$job/part-$part.try-0.json" ] || fail "part $part was not killed midway"
jq -e '.exit == 143' "reports/$job/part-1.try-0.json" >/dev/null || fail 'part 1 was not stopped'
compare reference sharp
compare_failures "$job"

say 'A part once more: everything is there, and only the broken inputs are tried'
start_node node2
wait_until 60 'node2 is back' all_idle
run_block again
wait_until 120 'the task has ended' no_jobs
jq -c '{shard, shards, done, skipped, failed, exit}' "reports/$again/"part-3.try-0.json
compare reference sharp

say 'A node that hangs and comes back: two tasks do one part, in one folder, at once'
show "job=\$(sbatch --parsable --array=1-8 farm/slurm.sh 'imbilatfilt | imsharpen' renders both reports)"
wait_until 120 'some results are there' has_outputs both $((files / 10))
watch_results reference both
part=$(part_on node3)
[ -n "$part" ] || fail 'no task runs on node3'
kill -KILL "${slurmd[node3]}"
hung=$(tasks_of node3)
kill -STOP $hung
echo "# slurmd of node3 killed, its task (part $part) halted"
wait_until 120 'the part runs elsewhere' test -e "reports/$job/part-$part.try-1.jsonl"
kill -CONT $hung
echo "# it goes on, while $(squeue -h --array -t R -o '%K %N' | awk -v part="$part" '$1 == part {print $2}') does part $part too"
wait_until 600 'all tasks have ended' no_jobs
wait_until 120 'the one that hung has ended' test -s "reports/$job/part-$part.try-0.json"
table "$job"
show "jq -c '{shard, done, skipped, failed, started, ended, exit}' reports/\$job/part-$part.try-*.json"
end_watch
show 'sh farm/slurm.sh --report reports/$job >/dev/null'
compare reference both
compare_failures "$job"
start_node node3
wait_until 60 'node3 is back' all_idle

say 'Two tasks that write every result, of the same names, at once'
code=0
show "impipe 'imgaussfilt 2' renders -r -o smooth 2>smooth.log" || code=$?
[ "$code" = 1 ] || fail 'broken inputs should be exit code 1'
hashes smooth >"$folder/smooth.sha256"
mkdir shared
watch_results smooth shared
show "sbatch --parsable --array=1-2 -c 4 --output=two-%a.log --wrap \"impipe 'imgaussfilt 2' renders -r -o shared -j 4 --summary two-\\\$SLURM_ARRAY_TASK_ID.json\""
wait_until 600 'both have ended' no_jobs
show "jq -c '{files, done, skipped, failed, started, ended}' two-1.json two-2.json"
jq -se 'map(.done) | .[0] == .[1] and .[0] > 0' two-1.json two-2.json >/dev/null ||
  fail 'one of the two did less'
end_watch
compare smooth shared

say 'All of that is as it should be.'
