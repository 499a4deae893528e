// The inner parts of the distance transform for each instruction set.
#include "backends/cpu/transform/distance_rows.hpp"

#include "backends/cpu/simd/vectors.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {
namespace {

using Metric = Distance::Metric;

constexpr double quasi_step = 0.41421356237309504880;  // sqrt(2) - 1

// Whole blocks of 16, and what vectors read behind the last column of a range.
constexpr std::int64_t padded_width(std::int64_t width) { return (width + 15) / 16 * 16 + 16; }

#define IMPIPE_KERNELS "backends/cpu/transform/distance_rows.inc"
#include "backends/cpu/simd/each_level.inc"

template <bool index>
FinishRow finish_for(Metric metric, bool wide, CpuLevel level) {
#define IMPIPE_FINISH(name, T, I) IMPIPE_AT_LEVEL(level, finish<Metric::name, index, T, I>)
  switch (metric) {
    case Metric::euclidean:
      if (wide) return IMPIPE_FINISH(euclidean, double, std::int64_t);
      return IMPIPE_FINISH(euclidean, std::int32_t, std::int32_t);
    case Metric::cityblock: return IMPIPE_FINISH(cityblock, std::int32_t, std::int32_t);
    case Metric::chessboard: return IMPIPE_FINISH(chessboard, std::int32_t, std::int32_t);
    default: return IMPIPE_FINISH(quasi_euclidean, double, std::int64_t);
  }
#undef IMPIPE_FINISH
}

}  // namespace

// logical and uint8 are read alike.
MarkBand mark_band(PixelClass cls, CpuLevel level) {
  return with_pixel(cls, [&](auto pixel) { return IMPIPE_AT_LEVEL(level, mark<decltype(pixel)>); });
}

FillBand fill_band(PixelClass cls, CpuLevel level) {
  return with_pixel(cls, [&](auto pixel) { return IMPIPE_AT_LEVEL(level, fill<decltype(pixel)>); });
}

std::int64_t distance_scratch_bytes(std::int64_t width) {
  // Two rows of values and one of columns of at most 8 bytes, and two of int32.
  return padded_width(width) * (3 * 8 + 2 * 4);
}

FinishRow finish_row(const Distance& distance, bool wide, CpuLevel level) {
  return distance.index ? finish_for<true>(distance.metric, wide, level)
                        : finish_for<false>(distance.metric, wide, level);
}

}  // namespace impipe::cpu
