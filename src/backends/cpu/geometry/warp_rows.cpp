// Affine maps in vectors, where all pixels of a vector lie inside the image.
#include "backends/cpu/geometry/warp_rows.hpp"

#include <limits>
#include <type_traits>

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

bool plain_nearest_offsets(const AffineRow& row, int pixel_bytes, std::int32_t* offsets) {
  const double width = static_cast<double>(row.width), height = static_cast<double>(row.height);
  bool all = true;
  for (std::int64_t u = row.begin; u < row.n; ++u) {
    const double column = static_cast<double>(u);
    const double left = __builtin_floor(__builtin_fma(row.a, column, row.x) + 0.5);
    const double top = __builtin_floor(__builtin_fma(row.d, column, row.y) + 0.5);
    // False also where a place is NaN.
    const bool there = left >= 0 && left < width && top >= 0 && top < height;
    const double place = top * static_cast<double>(row.stride) +
                         left * static_cast<double>(pixel_bytes) - static_cast<double>(row.base);
    *offsets++ = there ? static_cast<std::int32_t>(place) : -1;
    all = all && there;
  }
  return all;
}

#if IMPIPE_HAS_INTRINSICS
// What has a pixel and the one behind it.
template <class T>
using WordOf = std::conditional_t<sizeof(T) == 4, std::uint64_t, std::uint32_t>;

// The words at byte `offsets` of `data`, and those a row further. One by one: processors gather no
// faster, and many far slower.
template <class Word>
[[gnu::noinline]] void pick_words(Word* upper, Word* lower, const std::byte* data,
                                  std::int64_t stride, const std::int32_t* offsets, int n) {
  for (int i = 0; i < n; ++i) {
    const std::byte* at = data + offsets[i];
    __builtin_memcpy(upper + i, at, sizeof(Word));
    __builtin_memcpy(lower + i, at + stride, sizeof(Word));
  }
}

#define IMPIPE_VECTORS_ONLY
#define IMPIPE_KERNELS "backends/cpu/geometry/warp_rows.inc"
#include "backends/cpu/simd/each_level.inc"

using WarpVectors = void (*)(const AffineRow& row, WarpRow plain, float* out);
template <class T>
WarpVectors vectors_of(CpuLevel level) {
  return level == CpuLevel::v3 ? v3::warp<T> : v4::warp<T>;
}

using FindWords = void (*)(const PlaceRow& row, std::int64_t begin, std::int64_t end,
                           const WordGrid& grid, const WordPlaces& to);
template <bool fused>
FindWords find_of(bool nearest, CpuLevel level) {
  if (level == CpuLevel::v3) {
    return nearest ? v3::find_words<true, fused> : v3::find_words<false, fused>;
  }
  return nearest ? v4::find_words<true, fused> : v4::find_words<false, fused>;
}

using BlendWords = void (*)(const std::byte* data, const WordPlaces& at, int n, float* out);
template <class T>
BlendWords blend_of(CpuLevel level) {
  return level == CpuLevel::v3 ? v3::blend_words<T> : v4::blend_words<T>;
}

using BlendCubic = void (*)(const std::byte* data, std::int64_t stride, const WordPlaces& at, int n,
                            float* out);
template <class T>
BlendCubic cubic_of(CpuLevel level) {
  return level == CpuLevel::v3 ? v3::blend_cubic<T> : v4::blend_cubic<T>;
}

WarpVectors vectors_of(PixelClass cls, CpuLevel level) {
  switch (bytes_of(cls)) {
    case 1: return vectors_of<std::uint8_t>(level);
    case 2: return vectors_of<std::uint16_t>(level);
    default: return vectors_of<float>(level);
  }
}
#endif

}  // namespace

void warp_in_vectors(const AffineRow& row, PixelClass cls, CpuLevel level, float* out) {
  const WarpRow plain = warp_row(cls, false, level);
#if IMPIPE_HAS_INTRINSICS
  if (level != CpuLevel::baseline) return vectors_of(cls, level)(row, plain, out);
#endif
  plain(row, out);
}

bool nearest_offsets(const AffineRow& row, int pixel_bytes, CpuLevel level, std::int32_t* offsets) {
#if IMPIPE_HAS_INTRINSICS
  if (level == CpuLevel::v3) return v3::nearest_offsets(row, pixel_bytes, offsets);
  if (level == CpuLevel::v4) return v4::nearest_offsets(row, pixel_bytes, offsets);
#endif
  static_cast<void>(level);
  return plain_nearest_offsets(row, pixel_bytes, offsets);
}

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
  switch (bytes_of(cls)) {
    case 1: return blend_of<std::uint8_t>(level)(data, at, n, out);
    case 2: return blend_of<std::uint16_t>(level)(data, at, n, out);
    default: return blend_of<float>(level)(data, at, n, out);
  }
#endif
}

void blend_cubic([[maybe_unused]] PixelClass cls, [[maybe_unused]] CpuLevel level,
                 [[maybe_unused]] const std::byte* data, [[maybe_unused]] std::int64_t stride,
                 [[maybe_unused]] const WordPlaces& at, [[maybe_unused]] int n,
                 [[maybe_unused]] float* out) {
#if IMPIPE_HAS_INTRINSICS
  switch (bytes_of(cls)) {
    case 1: return cubic_of<std::uint8_t>(level)(data, stride, at, n, out);
    case 2: return cubic_of<std::uint16_t>(level)(data, stride, at, n, out);
    default: return cubic_of<float>(level)(data, stride, at, n, out);
  }
#endif
}

}  // namespace impipe::cpu
