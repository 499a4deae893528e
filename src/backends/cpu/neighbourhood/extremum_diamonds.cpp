// Extrema under small diamonds, in vectors.
#include "backends/cpu/neighbourhood/extremum_diamonds.hpp"

#include <type_traits>

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {

namespace {

#define IMPIPE_KERNELS "backends/cpu/neighbourhood/extremum_diamonds.inc"
#include "backends/cpu/simd/vector_levels.inc"

}  // namespace

template <class T>
std::int64_t diamond_pixels(CpuLevel level) {
  return IMPIPE_VECTORS_OR(level, 0, Pixels<T>::count);
}

template <class T>
DiamondKernel<T> diamond_kernel([[maybe_unused]] int radius, [[maybe_unused]] bool largest,
                                CpuLevel level) {
  return IMPIPE_VECTORS_OR(level, nullptr, diamonds<T>[radius - 1][largest ? 1 : 0]);
}

#define IMPIPE_DIAMONDS(T)                           \
  template std::int64_t diamond_pixels<T>(CpuLevel); \
  template DiamondKernel<T> diamond_kernel<T>(int, bool, CpuLevel);
IMPIPE_DIAMONDS(std::uint8_t)
IMPIPE_DIAMONDS(std::uint16_t)
IMPIPE_DIAMONDS(float)
#undef IMPIPE_DIAMONDS

}  // namespace impipe::cpu
