// Maps a block of the output at a time: how outputs are cut, and asking for what a block reads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/image.hpp"
#include "core/region.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

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
