// Maps a block of the output at a time: how outputs are cut, and asking for what a block reads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/tile/tile_image.hpp"
#include "core/image.hpp"
#include "core/placement.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

struct Place {
  double x, y;
};
inline Place place_of(const AffinePlace& p, double u, double v) {
  return {p.a * u + p.b * v + p.c, p.d * u + p.e * v + p.f};
}
inline Place place_of(const MappedPlace& p, double u, double v) {
  const double across = u - p.u0, down = v - p.v0;
  const double w = p.g * across + p.h * down + p.i;
  return {(p.a * across + p.b * down + p.c) / w + p.x0,
          (p.d * across + p.e * down + p.f) / w + p.y0};
}

// Asks for what a block of outputs reads, about: it lies in short pieces of many input rows, which
// a processor does not foresee, and beyond its caches it waited for each longer than it computed.
// In line, for a function that does nothing but this counts as one without effect and is dropped.
template <class Map>
[[gnu::always_inline]] inline void fetch_block(const Map& map, const Plane& in,
                                               const Region& block) {
  const std::int64_t pixel = bytes_of(in.cls());
  const auto index = [](double place, std::int64_t n) {
    return place > 0 ? static_cast<std::int64_t>(std::min(place, static_cast<double>(n - 1))) : 0;
  };
  constexpr std::int64_t half_line = 32;
  for (std::int64_t v = block.y0; v < block.y1; ++v) {
    for (std::int64_t u = block.x0; u < block.x1; u += half_line / pixel) {
      const Place place = place_of(map, static_cast<double>(u), static_cast<double>(v));
      const std::byte* row = in.row(index(place.y, in.size().height));
      __builtin_prefetch(row + index(place.x, in.size().width) * pixel);
    }
  }
}

// How a map's outputs are cut.
struct Blocks {
  std::int64_t columns = 256, rows = 16;
};
constexpr std::int64_t max_columns = 256, max_rows = 64, max_pixels = 8192;

// Calls make for each block of the output, on all threads.
template <class Make>
void for_blocks(Size size, Blocks blocks, ThreadPool& pool, Make make) {
  const std::int64_t across = (size.width + blocks.columns - 1) / blocks.columns;
  const std::int64_t down = (size.height + blocks.rows - 1) / blocks.rows;
  pool.for_each(across * down, [&](std::int64_t part) {
    const std::int64_t x = part % across * blocks.columns, y = part / across * blocks.rows;
    make(Region{x, y, std::min(x + blocks.columns, size.width),
                std::min(y + blocks.rows, size.height)});
  });
}

}  // namespace impipe::cpu
