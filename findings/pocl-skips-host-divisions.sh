#!/usr/bin/env bash
# Once a program has asked for PoCL's devices, its own divisions of integers by zero no longer end it.
#
# PoCL 3.0-rc2 (PyPI's pocl-binary-distribution 3.0) and 3.1 (Debian 12), on x86-64: OpenCL C leaves the value of
# a division of integers by zero open, but it must not trap, and the processor does. So PoCL's driver for CPUs
# takes over the signal SIGFPE of the whole process when its devices are first listed, and goes on behind the
# instruction that trapped, whatever code that was: the host's too, where the quotient is then whatever the
# registers held. A handler that the program had for the signal is not called for them. So a test suite that runs
# with PoCL passes over faults that kill the program on every machine without it, which is how we met it.
# The environment variable POCL_SIGFPE_HANDLER=0, set before, leaves the signal alone: below it ends the program.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 pyopencl==2026.1.4 pocl-binary-distribution==3.0
export POCL_CACHE_DIR=$folder/cache
cat > host.c <<'C'
int quotient(volatile int dividend, volatile int divisor) { return dividend / divisor; }
C
cc -O1 -shared -fPIC -o host.so host.c
cat > program.py <<'PYTHON'
import ctypes
import sys

if sys.argv[1] == "pocl":
    import pyopencl as cl
    platform = next(p for p in cl.get_platforms() if "PoCL 3.0-rc2" in p.version)
    platform.get_devices()
print("the host's 7 / 0:", ctypes.CDLL("./host.so").quotient(7, 0), flush=True)
PYTHON
ended() { # the exit status of a run
  local status=0
  "$@" || status=$?
  echo "status $status: ${*: -2}"
  [ "$status" = "$wanted" ]
}
wanted=136 ended venv/bin/python program.py alone
wanted=0 ended venv/bin/python program.py pocl
wanted=136 ended env POCL_SIGFPE_HANDLER=0 venv/bin/python program.py pocl
