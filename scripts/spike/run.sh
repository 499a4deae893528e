#!/usr/bin/env bash
# Builds the spike of docs/decisions/0001 and runs it: every instruction set and OpenCL or CUDA
# device of this machine against the baseline rows of g++. Needs CUDA's headers.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/spike}
cuda=${CUDA_HOME:-/usr/local/cuda}
mkdir -p "$build"
flags="-std=c++20 -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -I$here/../../src"
objects=()
for part in bodies text opencl cuda spike; do
  g++ $flags -isystem "$cuda/include" -c "$here/$part.cpp" -o "$build/$part.o"
  objects+=("$build/$part.o")
done
g++ -static-libstdc++ -static-libgcc "${objects[@]}" -o "$build/spike" -lOpenCL -ldl
"$build/spike" "$here" "$build"
