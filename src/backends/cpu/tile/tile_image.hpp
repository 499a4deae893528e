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

}  // namespace impipe::cpu
