#!/usr/bin/env bash
# The assembler of CUDA drops a minus: max(max(a, -b), c) of ints becomes max(max(a, b), c).
#
# ptxas 12.9.86 (in PyPI's triton 3.9.0) for sm_90 and sm_100, at every level of optimisation but 0: two maxima or minima of
# signed ints in a row become one instruction of three operands, VIMNMX3, which has no place for a sign. If the
# second operand of the inner one is a negated register, the negation is left out and nothing stands for it. As
# the first operand, as the outer one's or of unsigned ints it is kept; sm_120 has two instructions and is right. With 13.0.88
# it is the same; ptxas 13.4.59 (in the same package) negates first. A loop whose bounds were
# larger(smallest, -half) read far beyond an array on an H200, and of other sizes gave wrong numbers without an error.
# The PTX is right; nothing warns.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --no-deps triton==3.9.0
bin=$(echo venv/lib/python3*/site-packages/triton/backends/nvidia/bin)

# program NAME A B: the maximum of max(A, B) and a third number.
program() {
  cat >"$1.ptx" <<PTX
.version 8.0
.target sm_90
.address_size 64
.visible .entry largest(.param .u64 numbers)
{
  .reg .b32 %r<7>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [numbers];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u32 %r1, [%rd2];
  ld.global.u32 %r2, [%rd2+4];
  ld.global.u32 %r3, [%rd2+8];
  neg.s32 %r4, %r2;
  max.s32 %r5, $2, $3;
  max.s32 %r6, %r5, %r3;
  st.global.u32 [%rd2+12], %r6;
  ret;
}
PTX
}
program second %r1 %r4
program first %r4 %r1

# negations ASSEMBLER PROGRAM DEVICE LEVEL: how many instructions of the kernel have a negated register.
negations() {
  "$bin/$1" "-arch=$3" "-O$4" "$2.ptx" -o "$2.cubin"
  "$bin/nvdisasm" -c "$2.cubin" >"$2.sass" 2>"$2.warnings"
  grep -q MNMX "$2.sass"
  grep -cE ', -R[0-9]+|(IADD|IADD3|IMAD.MOV)[^;]* -R[0-9]+' "$2.sass" || true
}
check() {
  local found
  found=$(negations "$1" "$2" "$3" "$4")
  echo "$1, the $2 operand negated, $3, -O$4: $found negations (expected $5)"
  [ "$found" = "$5" ]
}
check ptxas first sm_90 3 1
check ptxas second sm_90 0 1
check ptxas second sm_90 1 0
check ptxas second sm_90 3 0
check ptxas second sm_100 3 0
check ptxas second sm_120 3 1
check ptxas-blackwell second sm_90 3 1
check ptxas-blackwell second sm_100 3 1
