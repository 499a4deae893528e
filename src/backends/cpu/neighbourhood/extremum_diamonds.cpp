// Extrema under small diamonds, in vectors.
#include "backends/cpu/neighbourhood/extremum_diamonds.hpp"

#include <type_traits>

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {

#if IMPIPE_HAS_INTRINSICS
namespace {

#define IMPIPE_VECTORS_ONLY
#define IMPIPE_KERNELS "backends/cpu/neighbourhood/extremum_diamonds.inc"
#include "backends/cpu/simd/each_level.inc"

}  // namespace
#endif

template <class T>
std::int64_t diamond_pixels([[maybe_unused]] CpuLevel level) {
#if IMPIPE_HAS_INTRINSICS
  if (level == CpuLevel::v4) return v4::Pixels<T>::count;
  if (level == CpuLevel::v3) return v3::Pixels<T>::count;
#endif
  return 0;
}

template <class T>
DiamondKernel<T> diamond_kernel([[maybe_unused]] int radius, [[maybe_unused]] bool largest,
                                [[maybe_unused]] CpuLevel level) {
#if IMPIPE_HAS_INTRINSICS
  if (level == CpuLevel::v4) return v4::diamonds<T>[radius - 1][largest ? 1 : 0];
  if (level == CpuLevel::v3) return v3::diamonds<T>[radius - 1][largest ? 1 : 0];
#endif
  return nullptr;
}

#define IMPIPE_DIAMONDS(T)                           \
  template std::int64_t diamond_pixels<T>(CpuLevel); \
  template DiamondKernel<T> diamond_kernel<T>(int, bool, CpuLevel);
IMPIPE_DIAMONDS(std::uint8_t)
IMPIPE_DIAMONDS(std::uint16_t)
IMPIPE_DIAMONDS(float)
#undef IMPIPE_DIAMONDS

}  // namespace impipe::cpu
