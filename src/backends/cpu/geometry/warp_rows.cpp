// Affine maps in vectors.
#include "backends/cpu/geometry/warp_rows.hpp"

#include "backends/cpu/simd/vectors.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {
namespace {

#if IMPIPE_HAS_INTRINSICS
#define IMPIPE_KERNELS "backends/cpu/geometry/warp_rows.inc"
#include "backends/cpu/simd/vector_levels.inc"

using FindWords = void (*)(const PlaceRow& row, std::int64_t begin, std::int64_t end,
                           const WordGrid& grid, const WordPlaces& to);
template <bool fused>
FindWords find_of(bool nearest, CpuLevel level) {
  if (level == CpuLevel::v3) {
    return nearest ? v3::find_words<true, fused> : v3::find_words<false, fused>;
  }
  return nearest ? v4::find_words<true, fused> : v4::find_words<false, fused>;
}

#endif

}  // namespace

void find_words([[maybe_unused]] const PlaceRow& row, [[maybe_unused]] std::int64_t begin,
                [[maybe_unused]] std::int64_t end, [[maybe_unused]] const WordGrid& grid,
                [[maybe_unused]] bool nearest, [[maybe_unused]] CpuLevel level,
                [[maybe_unused]] const WordPlaces& to) {
#if IMPIPE_HAS_INTRINSICS
  (row.fused ? find_of<true>(nearest, level) : find_of<false>(nearest, level))(row, begin, end,
                                                                               grid, to);
#endif
}

void blend_words([[maybe_unused]] PixelClass cls, [[maybe_unused]] CpuLevel level,
                 [[maybe_unused]] const std::byte* data, [[maybe_unused]] const WordPlaces& at,
                 [[maybe_unused]] int n, [[maybe_unused]] float* out) {
#if IMPIPE_HAS_INTRINSICS
  with_pixel(cls, [&](auto pixel) {
    using T = decltype(pixel);
    (level == CpuLevel::v3 ? v3::blend_words<T> : v4::blend_words<T>)(data, at, n, out);
  });
#endif
}

void blend_cubic([[maybe_unused]] PixelClass cls, [[maybe_unused]] CpuLevel level,
                 [[maybe_unused]] const std::byte* data, [[maybe_unused]] std::int64_t stride,
                 [[maybe_unused]] const WordPlaces& at, [[maybe_unused]] int n,
                 [[maybe_unused]] float* out) {
#if IMPIPE_HAS_INTRINSICS
  with_pixel(cls, [&](auto pixel) {
    using T = decltype(pixel);
    (level == CpuLevel::v3 ? v3::blend_cubic<T> : v4::blend_cubic<T>)(data, stride, at, n, out);
  });
#endif
}

}  // namespace impipe::cpu
