// Rows made by byte shuffles of another row, for each instruction set: nearest resizes and flips.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cpu/simd/level.hpp"

namespace impipe::cpu {

// Output pixel i of a row is pixel places[i] of the input's row of `width` pixels. Places rise.
struct PickTable {
  PickTable(const std::int32_t* places, std::int64_t n, std::int64_t width, int pixel_bytes,
            CpuLevel level);

  const std::int32_t* places;
  std::int64_t n = 0;
  int pixel_bytes = 1;
  CpuLevel level;
  // What 16 bytes of output are put together from: so many times 16 bytes of input, one behind the
  // other. 0: the row is picked pixel by pixel.
  int vectors = 0;
  // Of pixels of four bytes that are every second one: as many are picked by whole vectors, which
  // need no tables.
  std::int64_t every_second = 0;
  std::vector<std::int32_t> first;     // [blocks]: the input byte they begin with
  std::vector<std::uint8_t> shuffles;  // [blocks][vectors][16]: a byte of them; from 128 on: none
};
void pick_row(const PickTable& table, std::byte* out, const std::byte* in);
// The same pixel by pixel, from places in any order.
void pick_pixels(std::byte* out, const std::byte* in, const std::int32_t* places, std::int64_t n,
                 int pixel_bytes);

// n pixels in the order from the last to the first; `last` points at the last one.
void reverse_row(std::byte* out, const std::byte* last, std::int64_t n, int pixel_bytes,
                 CpuLevel level);

}  // namespace impipe::cpu
