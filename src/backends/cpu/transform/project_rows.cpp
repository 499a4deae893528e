// The inner part of the Radon transform for each instruction set.
#include "backends/cpu/transform/project_rows.hpp"

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

#define IMPIPE_KERNELS "backends/cpu/transform/project_rows.inc"
#include "backends/cpu/simd/each_level.inc"

}  // namespace

SumRows sum_rows(CpuLevel level) {
  return level == CpuLevel::v4 ? v4::sum : level == CpuLevel::v3 ? v3::sum : baseline::sum;
}

}  // namespace impipe::cpu
