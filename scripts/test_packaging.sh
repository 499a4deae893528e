#!/usr/bin/env bash
# Makes the bundle and runs what packaging/ has for farms and containers from it, on pictures of
# which each result is compared with one process's.
#
#   scripts/test_packaging.sh [--build DIR]
#
# --build  the build folder to take impipe from: by default build/ci, or else build/release
#
# Debian 12, as root: what is missing is installed, openjd and cuecmd from PyPI into a folder that
# goes at the end with everything else. docker is used where its daemon answers, or else podman;
# apptainer where it is there, or else its recipe's steps are done in a root folder made by
# debootstrap. OpenCue needs a server: cuecmd says what it would submit, and the frames of that are
# run here. The commands are those of docs/farm.md (blocks marked "packaging"); what it printed last
# is docs/packaging-test.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh
. scripts/page_commands.sh
page_kind=packaging

build=''
while [ $# -gt 0 ]; do
  case $1 in
    --build)
      [ $# -gt 1 ] || { echo "test_packaging.sh: $1 takes a folder" >&2; exit 2; }
      build=$2
      shift
      ;;
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) echo "test_packaging.sh: unknown argument $1" >&2; exit 2 ;;
  esac
  shift
done
[ "$(id -u)" = 0 ] || { echo "test_packaging.sh: this needs root" >&2; exit 2; }
for candidate in build/ci build/release; do
  [ -n "$build" ] || [ ! -x "$candidate/src/cli/impipe" ] || build=$candidate
done
[ -x "$build/src/cli/impipe" ] || { echo "test_packaging.sh: no impipe in '$build'; build it" >&2; exit 2; }
setup_install debootstrap podman runc parallel make jq python3-venv "${python_packages[@]}"
python=$(setup_python)
impipe=$(realpath "$build/src/cli/impipe")

folder=$(mktemp -d -t impipe-packaging.XXXXXX)
export TMPDIR=$folder # of openjd, cuecmd and podman too
# Where podman remembers what it saw, wherever its images lie. With vfs nothing of it is mounted.
remembered=/var/lib/containers/cache
[ ! -e $remembered ] || remembered=''
tear_down() {
  local status=$?
  trap - EXIT
  cd /
  rm -rf "$folder" ${remembered:+"$remembered"}
  exit "$status"
}
trap tear_down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

mkdir "$folder/work" "$folder/bin"
scripts/bundle.sh --build "$build" --output "$folder/work" >"$folder/bundle.log" || fail "bundle.sh failed"
cd "$folder/work"
PATH=$folder/work/bundle/bin:$folder/bin:$PATH

# expect CODE COMMAND...: what it prints is printed without the machine's paths.
expect() {
  local expected=$1 code=0
  shift
  "$@" >"$folder/printed" 2>&1 || code=$?
  sed "s|$folder/work|.|g; s|$folder/cuecmd_[^/]*|TMPDIR|" "$folder/printed"
  [ "$code" = "$expected" ] || fail "exit code $code, expected $expected"
}
# Names for each recipe's results and reports, which are those of the page.
outputs() { find "$1" -type f ! -name '.*' | wc -l; }
clean() { rm -rf blurred reports; }
break_one() { mv renders/2/shot.0021.png . && echo 'no picture' >renders/2/shot.0021.png; }
repair_one() { mv shot.0021.png renders/2/shot.0021.png; }
# Characters that shells, make and parallel would like to take for themselves.
hard="map 'min(x, 0.5*white)' | map \"white - x\"
  | imgaussfilt 1"

say 'The bundle'
expect 0 run_block unpack
"$python" - <<'EOF'
import os

import numpy as np
from PIL import Image

y, x = np.mgrid[0:120, 0:160]
for i in range(1, 41):
    name = f"renders/{i // 10}/shot.{i:04}.png"
    os.makedirs(os.path.dirname(name), exist_ok=True)
    pixels = 127 + 100 * np.sin(x / (9 + i)) * np.cos(y / 7)
    Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(name)
EOF
"$impipe" 'imgaussfilt 2' renders -r -o reference 2>"$folder/reference.log"
"$impipe" "$hard" renders -r -o hard 2>>"$folder/reference.log"

say 'GNU parallel: one input is broken; repaired, the same command does its part again'
break_one
expect 1 run_block parallel
[ "$(outputs blurred)" = 39 ] || fail 'the other 39 are not all there'
jq -r .file reports/part-*.jsonl
repair_one
expect 0 run_block parallel
cut -f 7,9- reports/parallel.log
compare reference blurred
clean
expect 0 bundle/farm/parallel/parts.sh 3 "$hard" renders blurred reports
compare hard blurred
clean

say 'make: the same'
break_one
expect 2 run_block make
[ "$(outputs blurred)" = 39 ] || fail 'the other 39 are not all there'
repair_one
expect 0 run_block make
compare reference blurred
expect 0 run_block make
clean
expect 0 make -s -f bundle/farm/make/Makefile PARTS=3 PIPELINE="$hard" INPUT=renders OUTPUT=blurred REPORTS=reports
compare hard blurred
clean

say 'OpenCue: cuecmd says what it would submit, and its frames are run'
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check openjd-cli==0.8.0 opencue-cuecmd==1.37.0
cat >"$folder/bin/cuecmd" <<EOF
#!/bin/sh
exec "$folder/venv/bin/cuecmd" "\$@" --pretend
EOF
chmod +x "$folder/bin/cuecmd"
expect 0 run_block opencue
# What the layer runs for a frame: see cuecmd/main.py.
run_frames() {
  local frame
  for frame in $(seq "$1"); do
    "$folder/venv/bin/python" -m cuecmd.execute_commands "$folder"/cuecmd_*/impipe.cmds 1 --frame "$frame" || return
  done
}
expect 0 run_frames 8
compare reference blurred
clean
rm -r "$folder"/cuecmd_*
bundle/farm/opencue/submit.sh 2 "$hard" renders blurred reports >/dev/null
expect 0 run_frames 2
compare hard blurred
clean

say 'Open Job Description'
ln -s "$folder/venv/bin/openjd" "$folder/bin/openjd"
run_block openjd >"$folder/openjd.log" 2>&1 || { cat "$folder/openjd.log" >&2 && fail 'openjd'; }
sed "s|$folder/work|.|g; s/^[0-9:.]*\t//" "$folder/openjd.log" |
  grep -E '^\$|passes|Frames\(|^openjd_status|^openjd_progress: 100|^Chunks'
compare reference blurred
clean

# --- containers

# A Debian that has nothing else, which is what debian:12-slim is.
debootstrap --variant=minbase bookworm "$folder/debian" >"$folder/debootstrap.log"

say 'Docker'
if docker info >/dev/null 2>&1; then
  docker --version
else
  cat >"$folder/containers.conf" <<EOF
[containers]
netns = "host"
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
EOF
  cat >"$folder/storage.conf" <<EOF
[storage]
driver = "vfs"
graphroot = "$folder/images"
runroot = "$folder/containers"
EOF
  export CONTAINERS_CONF=$folder/containers.conf CONTAINERS_STORAGE_CONF=$folder/storage.conf
  export BUILDAH_ISOLATION=chroot
  tar -C "$folder/debian" -c . | podman import - docker.io/library/debian:12-slim >"$folder/import.log" 2>&1
  docker() { podman "$@"; }
  echo "no Docker daemon answers: $(podman --version) reads the Dockerfile, on a Debian made by debootstrap"
fi
expect 0 run_block docker
compare reference blurred
clean

say 'Apptainer'
if ! command -v apptainer >/dev/null; then
  echo 'no apptainer is here: the sections of its recipe are done in a root folder made by debootstrap'
  root=$folder/root
  section() { awk -v name="%$1" '/^%/ { on = $1 == name; next } on' "$recipe"; }
  # inside COMMAND...: with an empty environment, in the root folder, which sees this one.
  inside() {
    unshare --mount sh -c '
      mount -t proc proc "$0/proc" && mount --bind "$PWD" "$0$PWD" && folder=$PWD && root=$0 &&
      exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        chroot "$root" sh -c "cd \"\$0\" && exec \"\$@\"" "$folder" "$@"' "$root" "$@"
  }
  apptainer() {
    case $1 in
      build)
        recipe=$3
        cp -a "$folder/debian" "$root"
        mkdir -p "$root$PWD"
        section files | while read -r from to; do [ -z "$from" ] || cp -a "$from" "$root$to"; done
        inside sh -euxc "$(section post)"
        inside sh -euxc "$(section test)"
        ;;
      run)
        shift 2
        inside sh -euc "$(section runscript)" runscript "$@"
        ;;
    esac
  }
fi
expect 0 run_block apptainer
compare reference blurred

say 'All of that is as it should be.'
