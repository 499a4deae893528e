// Row passes of equal weights over whole numbers. Their sums in float32 are exact, so that sums may
// run along a row, which those of fractions may not.
#include "backends/cpu/neighbourhood/whole_row.hpp"

#include <algorithm>

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {

#if IMPIPE_HAS_INTRINSICS
namespace {

using WholeRow = void (*)(float* out, const std::uint16_t* in, int taps, std::int64_t n);
#define IMPIPE_VECTORS_ONLY
#define IMPIPE_KERNELS "backends/cpu/neighbourhood/whole_row.inc"
#include "backends/cpu/simd/each_level.inc"

}  // namespace

bool has_whole_row_sum(PixelClass cls, std::span<const float> weights, CpuLevel level) {
  constexpr std::size_t most = (1 << 24) / 65535;  // whole numbers up to 2^24 are exact
  return level != CpuLevel::baseline && cls == PixelClass::uint16 && weights.size() > 1 &&
         weights.size() <= most && std::ranges::all_of(weights, [](float w) { return w == 1; });
}

void whole_row_sum(float* out, const std::byte* in, int taps, std::int64_t n, CpuLevel level) {
  const WholeRow row = (level == CpuLevel::v4 ? v4::whole_row_of : v3::whole_row_of)(taps);
  row(out, reinterpret_cast<const std::uint16_t*>(in), taps, n);
}
#else
bool has_whole_row_sum(PixelClass, std::span<const float>, CpuLevel) { return false; }
void whole_row_sum(float*, const std::byte*, int, std::int64_t, CpuLevel) {}
#endif

}  // namespace impipe::cpu
