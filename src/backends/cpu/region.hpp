// Rectangles of an image, and what lies under them in the image that a node reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/kernel_spec.hpp"

namespace impipe::cpu {

// Columns [x0, x1), rows [y0, y1).
struct Region {
  std::int64_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  std::int64_t width() const { return x1 - x0; }
  std::int64_t height() const { return y1 - y0; }
  std::int64_t pixels() const { return width() * height(); }
  bool empty() const { return x0 >= x1 || y0 >= y1; }
  bool operator==(const Region&) const = default;
};

// The smallest rectangle that holds both.
Region hull(const Region& a, const Region& b);
inline Region whole(Size size) { return {0, 0, size.width, size.height}; }

// Pixels of a part of an image: the pixel (region.x0, region.y0) at data.
struct TileImage {
  const std::byte* data = nullptr;
  std::int64_t stride = 0;  // bytes; 0 when all rows share their memory
  Region region;
  Size size;  // of the whole image
  PixelClass cls = PixelClass::uint8;
  int channels = 1;

  int pixel_bytes() const { return bytes_of(cls) * channels; }
  const std::byte* at(std::int64_t x, std::int64_t y) const {
    return data + (y - region.y0) * stride + (x - region.x0) * pixel_bytes();
  }
};

// Where a place outside [0, n) is read: a place inside, or -1 for a constant or nothing.
std::int64_t map_outside(std::int64_t place, std::int64_t n, Border border);

// The part of the image that is read when all of `wanted`, which may reach outside, is.
Region inside(const Region& wanted, Size size, Border border);

// How a node's output coordinates lead to input coordinates.
struct Reach {
  Footprint footprint;
  Border border = Border::constant;
  std::int64_t shift_x = 0, shift_y = 0;
  // The input rectangle under an output rectangle, borders not yet applied.
  Region under(const Region& out) const {
    return {out.x0 + shift_x - footprint.left, out.y0 + shift_y - footprint.up,
            out.x1 + shift_x + footprint.right, out.y1 + shift_y + footprint.down};
  }
};
Reach reach_of(const Node& node);

// The input rectangle that becomes an output rectangle; size is the input's.
Region permuted(const Permute& permute, const Region& out, Size size);

// What a node reads of its image number `index` (of this size) to make `out`.
Region read_region(const Node& node, const Region& out, Size size);

}  // namespace impipe::cpu
