// The inner part of the Radon transform for each instruction set.
#include "backends/cpu/project_rows.hpp"

#include "backends/cpu/intrinsics.hpp"

namespace impipe::cpu {
namespace {

typedef float Eight __attribute__((vector_size(32)));

inline __attribute__((always_inline)) Eight fma_of_lanes(Eight a, Eight b, Eight c) {
  for (int i = 0; i < 8; ++i) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return c;
}

namespace baseline {
#define LEVEL_TARGET
#define LEVEL_FMA(a, b, c) fma_of_lanes(a, b, c)
#include "backends/cpu/project_rows.inc"
#undef LEVEL_FMA
#undef LEVEL_TARGET
}  // namespace baseline

#if IMPIPE_HAS_INTRINSICS
#define LEVEL_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#else
#define LEVEL_FMA(a, b, c) fma_of_lanes(a, b, c)
#endif
namespace v3 {
#define LEVEL_TARGET IMPIPE_TARGET_v3
#include "backends/cpu/project_rows.inc"
#undef LEVEL_TARGET
}  // namespace v3
namespace v4 {
#define LEVEL_TARGET IMPIPE_TARGET_v4
#include "backends/cpu/project_rows.inc"
#undef LEVEL_TARGET
}  // namespace v4

}  // namespace

SumRows sum_rows(CpuLevel level) {
  return level == CpuLevel::v4 ? v4::sum : level == CpuLevel::v3 ? v3::sum : baseline::sum;
}

}  // namespace impipe::cpu
