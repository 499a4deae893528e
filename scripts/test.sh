#!/usr/bin/env bash
# Installs what is missing, builds, runs every test and ends with ctest's summary.
#
#   scripts/test.sh [--sanitize address|thread] [--long] [--limits] [--oclgrind] [--all-archs]
#                   [--seeds N [FIRST]] [CTEST_ARGUMENT...]
#
# --sanitize builds in build/asan (address and undefined behaviour) or build/tsan.
# --oclgrind runs the table of OpenCL kernels, points before neighbourhoods and 300 random pipelines
#            (IMPIPE_TEST_SEEDS, from IMPIPE_TEST_FIRST_SEED) under Oclgrind and nothing else: no
#            stray access, no race.
#            IMPIPE_TEST_TABLE=few takes some of every kind, IMPIPE_TEST_SPEC=TEXT those of a name,
#            IMPIPE_TEST_PART=I/N one of N parts, for several machines or processes.
# --all-archs compiles the table of CUDA kernels for sm_75 to sm_120 with NVRTC and nothing else.
# --seeds    tries N random pipelines (ten thousand for an hour or two) and nothing else: the same
#            bits fused and not, at every instruction set, and on OpenCL; N / 10 of small images on
#            OpenCL; and N / 200 random cases of each operator against the definitions. FIRST is the
#            first seed, 1 unless given.
# --long     runs the long forms too (2,000 files where 400 are the rule), and the whole tables of
#            kernels through the slow compilers, an hour or two.
# --limits   walks the ends of all parameters' ranges and nothing else, on the CPU and on OpenCL;
#            with --sanitize that build does, and with --oclgrind Oclgrind's device alone, on images
#            of a few pixels. IMPIPE_TEST_OPERATORS=REGEX takes some operators. It may take hours.
# Anything else goes to ctest, such as -R cli. Exits with ctest's status.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh

preset=ci
oclgrind='' limits='' all_archs='' seeds='' first_seed=1
ctest_arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    --sanitize)
      case ${2:-} in
        address) preset=asan ;;
        thread) preset=tsan ;;
        *)
          echo "test.sh: --sanitize takes address or thread" >&2
          exit 2
          ;;
      esac
      shift
      ;;
    --long) export IMPIPE_LONG_TESTS=1 IMPIPE_TEST_TABLE=all ;;
    --limits) limits=1 ;;
    --oclgrind) oclgrind=1 ;;
    --all-archs) all_archs=1 ;;
    --seeds)
      seeds=${2:-}
      case $seeds in
        '' | *[!0-9]*)
          echo "test.sh: --seeds takes a number" >&2
          exit 2
          ;;
      esac
      shift
      if [[ ${2:-} =~ ^[0-9]+$ ]]; then first_seed=$2 && shift; fi
      ;;
    -h | --help)
      sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) ctest_arguments+=("$1") ;;
  esac
  shift
done

if [ "$preset" != ci ]; then
  export IMPIPE_SANITIZED=1  # for the tests of the program
  # What PoCL's compiler makes of a kernel is not instrumented: a few of every kind do.
  export IMPIPE_TEST_TABLE=${IMPIPE_TEST_TABLE:-few}
  export TSAN_OPTIONS="suppressions=$PWD/tests/support/tsan.supp print_suppressions=0"
  export LSAN_OPTIONS="suppressions=$PWD/tests/support/lsan.supp print_suppressions=0"
  export UBSAN_OPTIONS="halt_on_error=1 print_stacktrace=1"
  # The threads of PoCL's compiler have alternate stacks of their own.
  export ASAN_OPTIONS="use_sigaltstack=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
fi
setup_main test
setup_build "$preset" -DIMPIPE_PYTHON="$(setup_python tifffile)"
walk_limits() {
  IMPIPE_TEST_LIMITS=all IMPIPE="build/$preset/src/cli/impipe" "$(setup_python tifffile)" \
    tests/cli/test_limits.py -v
}
if [ -n "$oclgrind" ]; then
  library=$(find /usr/lib /usr/local/lib -name liboclgrind-rt-icd.so 2>/dev/null | head -n 1)
  if [ -z "$library" ]; then
    echo "test.sh: --oclgrind needs Oclgrind (Debian: apt-get install oclgrind)" >&2
    exit 2
  fi
  # A folder of its own for the loader's list of drivers, the cache and the log.
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  echo "$library" >"$folder/oclgrind.icd"
  export IMPIPE_TEST_TABLE=${IMPIPE_TEST_TABLE:-all} IMPIPE_TEST_SEEDS=${IMPIPE_TEST_SEEDS:-300}
  export OCL_ICD_VENDORS=$folder IMPIPE_CACHE_DIR=$folder/cache OCLGRIND_LOG=$folder/log
  # It counts the local memory of all kernels of a program together: several tiles, none of which takes
  # more than 27 KB.
  export OCLGRIND_LOCAL_MEM_SIZE=131072
  export OCLGRIND_DATA_RACES=1 IMPIPE_REQUIRE_BACKEND=opencl
  export IMPIPE_TEST_EXACT_BUFFERS=1 IMPIPE_TEST_COMPILE_FIRST=1
  if [ -n "$limits" ]; then
    walk_limits
  else
    "build/$preset/tests/unit_tests" --gtest_filter='OpenClKernels.*:OpenClPoints.*:Differential.Small*'
  fi
  if [ -s "$folder/log" ]; then
    cat "$folder/log" >&2
    exit 1
  fi
  exit 0
fi
if [ -n "$limits" ]; then
  walk_limits
  exit
fi
if [ -n "$all_archs" ]; then
  export IMPIPE_TEST_TABLE=${IMPIPE_TEST_TABLE:-all}
  IMPIPE_TEST_ARCHS='sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120' IMPIPE_REQUIRE_NVRTC=1 \
    "build/$preset/tests/unit_tests" --gtest_filter='Nvrtc.*'
  exit 0
fi
if [ -n "$seeds" ]; then
  status=0
  IMPIPE_TEST_SEEDS=$seeds IMPIPE_TEST_FIRST_SEED=$first_seed \
    "build/$preset/tests/unit_tests" --gtest_brief=1 --gtest_filter='Differential.Random*' || status=1
  IMPIPE_TEST_SEEDS=$((seeds / 10 + 1)) IMPIPE_TEST_FIRST_SEED=$first_seed \
    "build/$preset/tests/unit_tests" --gtest_brief=1 --gtest_filter='Differential.Small*' || status=1
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  python=$(setup_python)
  "$python" scripts/make_cases.py "$folder" --seed "$first_seed" --count "$((seeds / 200 + 1))"
  "$python" scripts/run_cases.py "$folder/cases.tsv" --impipe "build/$preset/src/cli/impipe" \
    >"$folder/said" || status=1
  grep -v '^ok' "$folder/said" || true
  exit "$status"
fi
exec ctest --test-dir "build/$preset" --output-on-failure -j "$(nproc)" "${ctest_arguments[@]}"
