// Weighted sums of two byte images in integers: four times as many at once as in float32.
#include "backends/cpu/point/fixed_sum.hpp"

#include <algorithm>
#include <cmath>

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

#define IMPIPE_KERNELS "backends/cpu/point/fixed_sum.inc"
#include "backends/cpu/simd/vector_levels.inc"

}  // namespace

std::optional<FixedSum> fixed_sum_through(double origin, double at_first, double at_second) {
  const double first = (at_first - origin) / 255, second = (at_second - origin) / 255;
  const double largest = std::max(std::fabs(first), std::fabs(second));
  constexpr double max_weight = 32767;
  // Sums of two products of 16 and 8 bits leave this much for the offset.
  constexpr double max_offset = 1 << 30;
  for (int shift = 15; shift >= 8; --shift) {
    const double unit = 1 << shift;
    const double offset = std::floor((origin + 0.5) * unit + 0.5);
    if (!(largest * unit <= max_weight) || !(std::fabs(offset) < max_offset)) continue;
    return FixedSum{static_cast<std::int16_t>(std::lround(first * unit)),
                    static_cast<std::int16_t>(std::lround(second * unit)),
                    static_cast<std::int32_t>(offset), shift};
  }
  return std::nullopt;
}

void run_fixed_sum(const FixedSum& sum, std::uint8_t* out, const std::uint8_t* a,
                   const std::uint8_t* b, std::int64_t n, [[maybe_unused]] CpuLevel level) {
#if IMPIPE_HAS_INTRINSICS
  if (level == CpuLevel::v4) return v4::fixed_sum(sum, out, a, b, n);
  if (level == CpuLevel::v3) return v3::fixed_sum(sum, out, a, b, n);
#endif
  for (std::int64_t i = 0; i < n; ++i) out[i] = sum.code(a[i], b[i]);
}

}  // namespace impipe::cpu
