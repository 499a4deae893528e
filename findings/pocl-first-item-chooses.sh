#!/usr/bin/env bash
# The first work-item's branch is taken by all work-items of its group.
#
# PoCL 3.0-rc2 (PyPI's pocl-binary-distribution 3.0) and 3.1 (Debian 12): a barrier stands in a branch that all
# work-items of a group take alike, as OpenCL C allows; an `if` follows in that branch that they take each for
# itself and that leads to the same end. The pass "barriertails" copies what follows a barrier in a branch, the end
# too, once for each way that leads there. So the two ways of the second `if` end in two barriers (each return
# gets one), and PoCL takes the `if` for one that has barriers in it: it asks the first work-item only.
# Below nobody writes where the first does not, and all do where it does, each time and with one thread too.
# Right are a barrier at the end of the branch, `if (true)` in its place, -cl-opt-disable, and Oclgrind 21.10.
# It depends on the optimizer: a short `if` becomes a select, and a loop stays right until it is unrolled.
# With loops of barriers in such a branch a kernel may not come to an end: so did one that sums local memory in
# pairs, then `if (item == 0)` writes the sum, a barrier, return, and writes something else behind the branch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 pyopencl==2026.1.4 pocl-binary-distribution==3.0
export POCL_CACHE_DIR=$folder/cache
venv/bin/python - <<'PYTHON'
import numpy as np
import pyopencl as cl

SOURCE = """
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void chosen(__global const uint* in, __global uint* out) {
  const uint item = get_local_id(0);
  if (in[64] != 0u) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (CHOICE && in[item] != 7u) out[item] = 1u;
    END;
  }
}
"""
BARRIER = "barrier(CLK_LOCAL_MEM_FENCE)"
platform = next(p for p in cl.get_platforms() if "PoCL 3.0-rc2" in p.version)
context = cl.Context(platform.get_devices())
queue = cl.CommandQueue(context)
values = np.full(65, 1, np.uint32)
source = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
items = np.arange(64)


def written(choice, end):
    text = SOURCE.replace("CHOICE", choice).replace("END", end)
    kernel = cl.Program(context, text).build().chosen
    found = np.zeros(64, np.uint32)
    buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=found)
    kernel(queue, (64,), (64,), source, buffer)
    cl.enqueue_copy(queue, found, buffer)
    return found


for choice, wanted in (("item > 5u", items > 5), ("item < 60u", items < 60)):
    found = written(choice, "")
    print(platform.version, choice, "written:", found.sum(), "right:", wanted.sum())
    assert (found == wanted[0]).all() and (found != wanted).any(), found
    assert (written(choice, BARRIER) == wanted).all()
PYTHON
