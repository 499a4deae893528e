// An image moved by a map, a block of the output at a time. What a block of an affine map reads is
// copied first, unless it is too much.
#include "backends/cpu/geometry/map.hpp"

#include <algorithm>

#include "backends/cpu/geometry/blocks.hpp"
#include "backends/cpu/geometry/map_rows.hpp"
#include "backends/cpu/geometry/results.hpp"
#include "backends/cpu/geometry/turned_blocks.hpp"

namespace impipe::cpu {
namespace {

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
