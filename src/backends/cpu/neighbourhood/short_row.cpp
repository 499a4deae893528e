// Row passes of few taps.
#include "backends/cpu/neighbourhood/short_row.hpp"

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {

#if IMPIPE_HAS_INTRINSICS
namespace {

#define IMPIPE_KERNELS "backends/cpu/neighbourhood/short_row.inc"
#include "backends/cpu/simd/vector_levels.inc"

constexpr std::int64_t block = 4 * v4::lanes;

}  // namespace

bool has_short_row_sum(PixelClass cls, int taps, std::int64_t n, CpuLevel level) {
  if (level == CpuLevel::v3) {
    return cls == PixelClass::single && taps % 2 == 1 && taps >= 3 && taps <= 9 && n >= block;
  }
  return level == CpuLevel::v4 && taps - 1 <= v4::lanes && n >= block;
}

void short_row_sum(float* out, const std::byte* in, PixelClass cls, const float* weights, int taps,
                   std::int64_t n, CpuLevel level) {
  if (level == CpuLevel::v3) {
    constexpr decltype(&v3::by_loads<3>) rows[] = {v3::by_loads<3>, v3::by_loads<5>,
                                                   v3::by_loads<7>, v3::by_loads<9>};
    rows[(taps - 3) / 2](out, reinterpret_cast<const float*>(in), weights, n);
  } else if (cls == PixelClass::single) {
    v4::by_moves(out, reinterpret_cast<const float*>(in), weights, taps, n);
  } else if (cls == PixelClass::uint16) {
    v4::by_moves(out, reinterpret_cast<const std::uint16_t*>(in), weights, taps, n);
  } else {
    v4::by_moves(out, reinterpret_cast<const std::uint8_t*>(in), weights, taps, n);
  }
}
#else
bool has_short_row_sum(PixelClass, int, std::int64_t, CpuLevel) { return false; }
void short_row_sum(float*, const std::byte*, PixelClass, const float*, int, std::int64_t,
                   CpuLevel) {}
#endif

}  // namespace impipe::cpu
