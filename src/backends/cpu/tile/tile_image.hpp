// A part of a plane, as the row programs of a tile read it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/region.hpp"

namespace impipe::cpu {

// Pixels of a part of a plane: the pixel (region.x0, region.y0) at data.
struct TileImage {
  const std::byte* data = nullptr;
  std::int64_t stride = 0;  // bytes; 0 when all rows share their memory
  Region region;
  Size size;  // of the whole plane
  PixelClass cls = PixelClass::uint8;
  bool far = false;  // in memory: no tile of it was made shortly before

  int pixel_bytes() const { return bytes_of(cls); }
  const std::byte* at(std::int64_t x, std::int64_t y) const {
    return data + (y - region.y0) * stride + (x - region.x0) * pixel_bytes();
  }
  // Whether the rows of a part of it as wide as itself follow each other without a gap.
  bool gapless(const Region& part) const { return stride == part.width() * pixel_bytes(); }
};

// A part of planes as rows for what does not ask where a pixel lies: one row, where all of the
// planes are `gapless`.
inline Region as_rows(const Region& part, bool gapless) {
  if (!gapless) return part;
  return {part.x0, part.y0, part.x0 + part.pixels(), part.y0 + 1};
}

// Processors fetch ahead within a row, but not from a row to the next. As many rows before one is
// read it is asked for, into the L2 cache.
constexpr std::int64_t rows_ahead = 4;
// Inlined always: a call of a function that changes nothing is left out.
__attribute__((always_inline)) inline void ask_for(const void* row, std::int64_t bytes) {
  constexpr std::int64_t line = 64;
  const char* first = static_cast<const char*>(row);
  for (std::int64_t k = 0; k < bytes; k += line) __builtin_prefetch(first + k, 0, 2);
}

}  // namespace impipe::cpu
