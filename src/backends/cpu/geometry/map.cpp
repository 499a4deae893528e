// An image moved by a map, a block of the output at a time. What a block of an affine map reads is
// copied first, unless it is too much.
#include "backends/cpu/geometry/map.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/geometry/blocks.hpp"
#include "backends/cpu/geometry/place_rule.hpp"
#include "backends/cpu/geometry/results.hpp"
#include "backends/cpu/geometry/turned_blocks.hpp"
#include "backends/cpu/simd/vectors.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {
namespace {

// Output pixels [first, first + n) of a row, at most 256.
struct MapPart {
  PlaceRow places;
  const std::byte* data = nullptr;  // the input
  std::int64_t stride = 0;          // bytes
  std::int64_t width = 0, height = 0;
  std::int64_t first = 0, n = 0;
  float outside = 0;
};
// As numbers; nothing is rounded to the class.
using MapRow = void (*)(const MapPart& part, float* out);

using Method = Resample::Method;

#define IMPIPE_KERNELS "backends/cpu/geometry/map_rows.inc"
#include "backends/cpu/simd/each_level.inc"

template <class T, bool on_image>
MapRow map_by(Method method, CpuLevel level) {
  switch (method) {
    case Method::nearest: return IMPIPE_AT_LEVEL(level, map<T, Method::nearest, on_image>);
    case Method::bicubic: return IMPIPE_AT_LEVEL(level, map<T, Method::bicubic, on_image>);
    default: return IMPIPE_AT_LEVEL(level, map<T, Method::bilinear, on_image>);
  }
}

MapRow map_row(PixelClass cls, const Resample& resample, CpuLevel level) {
  const bool on_image = resample.beside == Resample::Beside::on_image;
  return with_pixel(cls, [&](auto pixel) {
    using T = decltype(pixel);
    return on_image ? map_by<T, true>(resample.method, level)
                    : map_by<T, false>(resample.method, level);
  });
}

// Prefetches about what a block of outputs reads: short pieces of many input rows, which a
// processor does not foresee. Inlined always: a call of a function that changes nothing is left
// out.
[[gnu::always_inline]] inline void prefetch_block(const PlaceRule& rule, const Plane& in,
                                                  const Region& block) {
  const std::int64_t pixel = bytes_of(in.cls());
  const auto index = [](double place, std::int64_t n) {
    return place > 0 ? static_cast<std::int64_t>(std::min(place, static_cast<double>(n - 1))) : 0;
  };
  constexpr std::int64_t half_line = 32;
  for (std::int64_t v = block.y0; v < block.y1; ++v) {
    const PlaceRow row = rule.row(v);
    for (std::int64_t i = block.x0; i < block.x1; i += half_line / pixel) {
      const double u = static_cast<double>(i);
      const Place place = row.divided ? divided_place(row, u)
                                      : Place{place_at(row, row.x, u), place_at(row, row.y, u)};
      __builtin_prefetch(in.row(index(place.y, in.size().height)) +
                         index(place.x, in.size().width) * pixel);
    }
  }
}

// Rows of any map, as numbers, read where the image lies: places first, then what lies there.
void map_rows(const Moved& moved, std::size_t channel, const Region& block) {
  const Plane& in = *moved.in[channel];
  const MapRow row = map_row(in.cls(), moved.resample, moved.level);
  const Results stored(*moved.out[channel], moved.level);
  float numbers[max_columns];
  prefetch_block(moved.rule, in, block);
  MapPart made{.places = {},
               .data = in.row(0),
               .stride = in.stride(),
               .width = in.size().width,
               .height = in.size().height,
               .first = block.x0,
               .n = block.width(),
               .outside = moved.outside};
  for (std::int64_t v = block.y0; v < block.y1; ++v) {
    made.places = moved.rule.row(v);
    row(made, numbers);
    stored.store(block.x0, v, numbers, block.width());
  }
  stored.end();
}

}  // namespace

void run_map(const Node& node, std::span<const Plane* const> in, double outside,
             std::span<Plane* const> out, ThreadPool& pool, CpuLevel level) {
  const Moved moved(node, in, outside, out, level);
  const Turned turned(moved);
  const bool fits = turned.fits();
  for_blocks(out[0]->size(), turned.blocks(), pool, [&](const Region& block) {
    if (fits && turned.make(block)) return;
    for (std::size_t c = 0; c < in.size(); ++c) map_rows(moved, c, block);
  });
}

}  // namespace impipe::cpu
