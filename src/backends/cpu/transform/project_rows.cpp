// The inner part of the Radon transform for each instruction set.
#include "backends/cpu/transform/project_rows.hpp"

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

#define IMPIPE_KERNELS "backends/cpu/transform/project_rows.inc"
#include "backends/cpu/simd/each_level.inc"

}  // namespace

SumRows sum_rows(CpuLevel level) { return IMPIPE_AT_LEVEL(level, sum); }

}  // namespace impipe::cpu
