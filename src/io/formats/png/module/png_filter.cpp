// The filters of PNG as loops over bytes alone, which the compiler vectorises.
#include "io/formats/png/module/png_filter.hpp"

#include <algorithm>

#include "core/body.hpp"
#include "core/has_v3.hpp"

namespace impipe::io {
namespace {

using Byte = std::uint8_t;

IMPIPE_INLINE Byte apart(Byte a, Byte b) {
  return static_cast<Byte>(std::max(a, b) - std::min(a, b));
}

// Of left, above and corner the one nearest to left + above - corner. Its distance from them is
// |above - corner|, |left - corner| and the sum of both where they point the same way, in which
// case the corner is never the nearest, else their difference; so that bytes suffice.
IMPIPE_INLINE Byte nearest(Byte left, Byte above, Byte corner) {
  const Byte from_left = apart(above, corner);
  const Byte from_above = apart(left, corner);
  const Byte far = (above >= corner) == (left >= corner) ? Byte{255} : Byte{0};
  const Byte from_corner = static_cast<Byte>(apart(from_left, from_above) | far);
  const Byte other = from_above <= from_corner ? above : corner;
  return from_left <= from_above && from_left <= from_corner ? left : other;
}

IMPIPE_INLINE void filter_body(PngFilter filter, const Byte* row, const Byte* above, Byte* to,
                               std::int64_t count, std::int64_t pixel) {
  const Byte* left = row - pixel;
  const Byte* corner = above - pixel;
  switch (filter) {
    case PngFilter::none: std::copy_n(row, count, to); return;
    case PngFilter::sub: std::copy_n(row, pixel, to);
#pragma GCC ivdep
      for (std::int64_t i = pixel; i < count; ++i) to[i] = static_cast<Byte>(row[i] - left[i]);
      return;
    case PngFilter::up:
#pragma GCC ivdep
      for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<Byte>(row[i] - above[i]);
      return;
    case PngFilter::average:
      for (std::int64_t i = 0; i < pixel; ++i) to[i] = static_cast<Byte>(row[i] - (above[i] >> 1));
#pragma GCC ivdep
      for (std::int64_t i = pixel; i < count; ++i) {
        // The mean rounded down, in bytes.
        const Byte mean = static_cast<Byte>((left[i] & above[i]) + ((left[i] ^ above[i]) >> 1));
        to[i] = static_cast<Byte>(row[i] - mean);
      }
      return;
    case PngFilter::paeth:
      for (std::int64_t i = 0; i < pixel; ++i) to[i] = static_cast<Byte>(row[i] - above[i]);
#pragma GCC ivdep
      for (std::int64_t i = pixel; i < count; ++i) {
        to[i] = static_cast<Byte>(row[i] - nearest(left[i], above[i], corner[i]));
      }
      return;
  }
}

IMPIPE_INLINE void swap_body(const std::uint16_t* from, std::uint16_t* to, std::int64_t count) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<std::uint16_t>(from[i] << 8 | from[i] >> 8);
  }
}

using Filter = void (*)(PngFilter, const Byte*, const Byte*, Byte*, std::int64_t, std::int64_t);

#define IMPIPE_FILTER(level)                                                                      \
  IMPIPE_TARGET_##level void filter_##level(PngFilter filter, const Byte* row, const Byte* above, \
                                            Byte* to, std::int64_t count, std::int64_t pixel) {   \
    filter_body(filter, row, above, to, count, pixel);                                            \
  }                                                                                               \
  IMPIPE_TARGET_##level void swap_##level(const std::uint16_t* from, std::uint16_t* to,           \
                                          std::int64_t count) {                                   \
    swap_body(from, to, count);                                                                   \
  }
IMPIPE_FILTER(baseline)
IMPIPE_FILTER(v3)
#undef IMPIPE_FILTER

}  // namespace

void filter_row(PngFilter filter, const Byte* row, const Byte* above, Byte* to, std::int64_t count,
                std::int64_t pixel) {
  static const Filter filter_with = has_v3() ? filter_v3 : filter_baseline;
  filter_with(filter, row, above, to, count, pixel);
}

void swap_word_bytes(const std::uint16_t* from, std::uint16_t* to, std::int64_t count) {
  static const auto swap_with = has_v3() ? swap_v3 : swap_baseline;
  swap_with(from, to, count);
}

}  // namespace impipe::io
