#!/usr/bin/env bash
# Two work-groups that run at the same time share one array of local memory.
#
# PoCL 3.0-rc2 (PyPI's pocl-binary-distribution 3.0) and 3.1 (Debian 12): a function that is not inlined gets a kernel's
# __local array as an argument. Where all its calls pass the same array, the compiler puts the array itself
# in the argument's place, the pass that gives each work-group its own copy does not look into functions, and
# the array becomes a static variable of the kernel's shared object (nm shows it in .bss). With one thread
# results are right, with several some groups read what others have written: of 20,000 groups hundreds are wrong,
# other ones each time. A race detector finds nothing, for there is no race in the text.
# With always_inline in the place of noinline everything is right. `static inline` alone does not help
# where the function is long enough for the compiler to leave it apart. Needs two processors.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 pyopencl==2026.1.4 pocl-binary-distribution==3.0
export POCL_CACHE_DIR=$folder/cache
venv/bin/python - <<'PYTHON'
import os

import numpy as np
import pyopencl as cl

SOURCE = """
static __attribute__((noinline)) int sum_of(__local int* words, int item) {
  words[item] = item * 3 + (int)get_group_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  int sum = 0;
  for (int k = 0; k < 64; ++k) sum += words[(item + k) % 64];
  return sum;
}
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void sums(__global int* out) {
  __local int words[64];
  out[get_global_id(0)] = sum_of(words, (int)get_local_id(0));
}
"""
assert os.cpu_count() > 1, "one processor shows nothing"
platform = next(p for p in cl.get_platforms() if "PoCL 3.0-rc2" in p.version)
context = cl.Context(platform.get_devices())
queue = cl.CommandQueue(context)
groups = 20000
wanted = np.repeat(64 * np.arange(groups) + 3 * 64 * 63 // 2, 64)
wrong = {}
for kind in ("noinline", "always_inline"):
    kernel = cl.Program(context, SOURCE.replace("noinline", kind)).build().sums
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, wanted.size * 4)
    found = np.zeros(wanted.size, np.int32)
    wrong[kind] = 0
    for _ in range(10):
        kernel(queue, (groups * 64,), (64,), buffer)
        cl.enqueue_copy(queue, found, buffer)
        wrong[kind] += int(np.count_nonzero(found != wanted))
print(platform.version, "wrong sums:", wrong)
assert wrong["noinline"] > 0 and wrong["always_inline"] == 0, wrong
PYTHON
