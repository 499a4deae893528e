#!/usr/bin/env bash
# For anybody with a GPU: does every kernel give the CPU's bits there, and how fast is it?
#
#   scripts/gpu.sh [--bench-only|--no-sanitizer]
#
# Run from a checkout (builds what is missing) or from an unpacked bundle that was made with
# scripts/bundle.sh --tests. Needs NVIDIA's driver and NVRTC for CUDA, an OpenCL driver for OpenCL;
# what is missing is said and left out. IMPIPE_REQUIRE_BACKEND="cuda opencl" makes that a failure.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bench_only='' sanitizer=1
for argument in "$@"; do
  case $argument in
    --bench-only) bench_only=1 ;;
    --no-sanitizer) sanitizer='' ;;
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) echo "gpu.sh: unknown argument $argument" >&2; exit 2 ;;
  esac
done

if [ -x bin/impipe ]; then
  impipe=$PWD/bin/impipe unit_tests=$PWD/bin/unit_tests
else
  . scripts/setup.sh
  setup_main test && setup_build ci || exit 1
  impipe=$PWD/build/ci/src/cli/impipe unit_tests=$PWD/build/ci/tests/unit_tests
fi
failed=0
say() { printf '\n== %s\n' "$*"; }
try() { "$@" || { failed=1; echo "gpu.sh: FAILED: $*"; }; }

say devices
try "$impipe" devices
usable() { "$impipe" devices --json | tr -d '\n' | grep -Eq "\"id\": \"$1:[^}]*\"usable\": true"; }
backends=()
for backend in cuda opencl; do
  if usable "$backend"; then
    backends+=("$backend")
  else
    echo "gpu.sh: $backend is left out"
    [[ " ${IMPIPE_REQUIRE_BACKEND:-} " != *" $backend "* ]] || failed=1
  fi
done

if [ -z "$bench_only" ]; then
  say "the table of kernels against the CPU"
  for backend in "${backends[@]}"; do
    case $backend in cuda) tests='Cuda*' ;; *) tests='OpenCl*' ;; esac
    IMPIPE_REQUIRE_BACKEND=$backend try "$unit_tests" --gtest_brief=1 --gtest_filter="$tests"
  done
  say "oracle cases"
  for backend in "${backends[@]}"; do
    python3 scripts/run_cases.py tests/data/oracle/cases.tsv --backend "$backend" \
      --impipe "$impipe" | tail -n 20 || failed=1
  done
  say "out of memory goes to the CPU"
  for backend in "${backends[@]}"; do
    for n in 1 2 3; do
      if [ "$("$impipe" --backend cpu 'imgaussfilt 2' tests/data/io/gray8.png --hash)" != \
        "$(IMPIPE_TEST_FAIL_ALLOC=$n "$impipe" -q --backend "$backend" 'imgaussfilt 2' \
          tests/data/io/gray8.png --hash)" ]; then
        echo "gpu.sh: FAILED: other bits when request $n of $backend fails"
        failed=1
      fi
    done
  done
  sanitize=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
  if [ -n "$sanitizer" ] && [ -n "$sanitize" ] && [[ " ${backends[*]} " == *" cuda "* ]]; then
    for tool in memcheck racecheck; do
      say "compute-sanitizer $tool"
      "$sanitize" --tool "$tool" --error-exitcode 3 "$unit_tests" --gtest_brief=1 \
        --gtest_filter='CudaKernels*' | tail -n 20 || failed=1
    done
  else
    echo "gpu.sh: compute-sanitizer is left out"
  fi
fi

say benchmarks
for backend in "${backends[@]}"; do
  for cls in uint8 single; do
    echo "$backend, $cls, 8192x8192"
    try "$impipe" bench --backend "$backend" --size 8192 --class "$cls" 'imadjust 0.1 0.9' \
      'imfilter fspecial:gaussian,7,1.5' 'imgaussfilt 2' 'imerode square,3' 'medfilt2 3 3' \
      'mean2' 'imadjust 0.1,0.9 | conv2 k7 | edge prewitt t0.1 nothinning'
  done
done
exit "$failed"
