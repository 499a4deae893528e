#!/usr/bin/env bash
# For anybody with a GPU: does every kernel give the CPU's bits there, and how fast is it?
#
#   scripts/gpu.sh [--conformance] [--cases] [--manifest] [--sanitizer] [--bench] [--papers]
#                  [--out DIR]
#
# --conformance  the table of kernels against the CPU, and what happens when memory is out
# --cases        the oracle's cases through the program
# --manifest     results of random pipelines as they were at 5b0e3c9 (tests/data/manifest.tsv), every
#                IMPIPE_MANIFEST_EVERY-th row (8)
# --sanitizer    compute-sanitizer's memcheck and racecheck over a part of the table
# --bench        `impipe-bench --suite primitives`, on CUDA the other suites too
# --papers       the suites after the papers: plain loops, one thread, all threads and the device
# --out DIR      where the results go (build/gpu): gpu.md with commit, machine and commands, a log
#                of every phase, and the benchmarks as JSON
#
# Without a phase all of them but --papers, in some six minutes. Run from a checkout (builds what is
# missing) or from an unpacked bundle that was made with scripts/bundle.sh --tests. Needs NVIDIA's
# driver and NVRTC for CUDA, the card's OpenCL driver for OpenCL; what is missing is said and left
# out. IMPIPE_REQUIRE_BACKEND="cuda opencl" makes that a failure.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

phases='' out=build/gpu command="scripts/gpu.sh $*"
while [ $# -gt 0 ]; do
  case $1 in
    --conformance | --cases | --manifest | --sanitizer | --bench | --papers) phases+=" ${1#--}" ;;
    --out)
      [ $# -gt 1 ] || { echo "gpu.sh: --out takes a folder" >&2; exit 2; }
      out=$2
      shift
      ;;
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) echo "gpu.sh: unknown argument $1" >&2; exit 2 ;;
  esac
  shift
done
phases=${phases:-conformance cases manifest sanitizer bench}

if [ -x bin/impipe ]; then
  impipe=$PWD/bin/impipe bench=$PWD/bin/impipe-bench unit_tests=$PWD/bin/unit_tests manifest=$PWD/bin/manifest
  commit=$(cat COMMIT 2>/dev/null || echo unknown)
else
  . scripts/setup.sh
  setup_main test && setup_build ci || exit 1
  impipe=$PWD/build/ci/src/cli/impipe unit_tests=$PWD/build/ci/tests/unit_tests
  manifest=$PWD/build/ci/tests/manifest bench=$PWD/build/ci/src/bench/impipe-bench
  commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
fi
mkdir -p "$out"
report=$out/gpu.md
failed=0
begin=$SECONDS

say() { printf '%s\n' "$*" | tee -a "$report"; }
# try SECONDS NAME COMMAND...: the command's output goes to the log NAME, its end to the report.
try() {
  local limit=$1 name=$2 started=$SECONDS verdict=passed status=0
  shift 2
  local with_limit=(timeout "$limit")
  [ "$(type -t "$1")" != function ] || with_limit=()
  "${with_limit[@]}" "$@" >"$out/$name.log" 2>&1 || status=$?
  [ $status -eq 0 ] || { verdict="FAILED ($status)"; failed=1; }
  [ $status -ne 124 ] || verdict="FAILED (longer than $limit s)"
  say "- $name: $verdict, $((SECONDS - started)) s: \`$(tail -n 1 "$out/$name.log" | cut -c 1-150)\`"
  [ $status -eq 0 ] || tail -n 30 "$out/$name.log"
}

: >"$report"
say "# Kernels on a GPU"
say
say "Commit $commit, $(date -u +%F), \`$command\`."
say
say '```'
"$impipe" devices | tee -a "$report"
say '```'
say
"$impipe" devices --json >"$out/devices.json"
# The card's device of a backend: PoCL's processor is one of OpenCL's too.
gpu_of() {
  tr -d '\n' <"$out/devices.json" | grep -o '{[^}]*}' |
    sed -n "s/.*\"id\": \"\($1:[0-9]*\)\".*\"gpu\": true,.*\"usable\": true.*/\1/p" | head -n 1
}
backends=()
for backend in cuda opencl; do
  if [ -n "$(gpu_of "$backend")" ]; then
    backends+=("$backend")
  else
    say "- $backend is left out: it has no GPU that can be used"
    [[ " ${IMPIPE_REQUIRE_BACKEND:-} " != *" $backend "* ]] || failed=1
  fi
done

out_of_memory() {  # BACKEND DEVICE
  local n wanted found
  wanted=$("$impipe" --backend cpu 'imgaussfilt 2' tests/data/io/gray8.png --hash) || return 1
  for n in 1 2 3; do
    found=$(IMPIPE_REQUIRE_BACKEND='' IMPIPE_TEST_FAIL_ALLOC=$n "$impipe" -q --device "$2" \
      'imgaussfilt 2' tests/data/io/gray8.png --hash)
    [ "$found" = "$wanted" ] || { echo "other bits when request $n of $1 fails"; return 1; }
  done
  echo "the same bits when request 1, 2 or 3 fails"
}
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)

for phase in $phases; do
  say
  say "## $phase"
  say
  for backend in "${backends[@]}"; do
    device=$(gpu_of "$backend")
    case $phase in
      conformance)
        case $backend in cuda) tests='Cuda*' ;; *) tests='OpenCl*' ;; esac
        IMPIPE_REQUIRE_BACKEND=$backend try 180 "kernels-$backend" "$unit_tests" \
          --gtest_filter="$tests"
        try 30 "out-of-memory-$backend" out_of_memory "$backend" "$device"
        ;;
      cases)
        try 60 "cases-$backend" python3 scripts/run_cases.py tests/data/oracle/cases.tsv \
          --backend "$backend" --impipe "$impipe"
        ;;
      manifest)
        try 240 "manifest-$backend" "$manifest" check tests/data/manifest.tsv "$backend" \
          "${IMPIPE_MANIFEST_EVERY:-8}"
        ;;
      sanitizer)
        [ "$backend" = cuda ] || continue
        if [ -z "$sanitizer" ]; then
          say "- compute-sanitizer is not installed"
          continue
        fi
        for tool in memcheck racecheck; do
          # A kernel of every primitive: the tools make them some hundred times slower.
          IMPIPE_TEST_EXACT_BUFFERS=1 IMPIPE_TEST_TABLE=few \
            try 60 "$tool" "$sanitizer" --tool "$tool" --error-exitcode 3 \
            "$unit_tests" --gtest_brief=1 --gtest_filter='CudaKernels.Have*'
        done
        ;;
      bench)
        suites=primitives
        [ "$backend" != cuda ] || suites='primitives edt geometry algorithms'
        for suite in $suites; do
          try 90 "$suite-$backend" "$bench" --device "$device" --suite "$suite" \
            --report "$out/$suite-$backend.json"
          say
          say '```'
          tee -a "$report" <"$out/$suite-$backend.log"
          say '```'
          say
        done
        # The bars are CUDA's, of one card.
        bars=docs/benchmarks/bars/h200.json
        if [ "$backend" = cuda ] && "$impipe" devices | grep -q 'NVIDIA H200'; then
          try 30 "bars-$backend" python3 scripts/compare_bars.py $bars "$out"/*-"$backend".json
        fi
        ;;
      papers)
        for suite in ipt dither skeleton separable simt jointhist chain stack io edt; do
          try 200 "$suite-$backend" "$bench" --suite "$suite" --naive --repeat 5 \
            --device "cpu:1,cpu,$device" --report "$out/papers-$suite-$backend.json" \
            --html "$out/papers-$suite-$backend.html"
        done
        ;;
    esac
  done
done
say
say "$((SECONDS - begin)) s in all; $([ $failed -eq 0 ] && echo "nothing failed" || echo "FAILED")."
exit "$failed"
