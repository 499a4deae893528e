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
};

}  // namespace impipe::cpu
