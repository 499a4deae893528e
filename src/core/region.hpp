// Rectangles of an image, and what lies under them in the image that a node reads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/primitive_facts.hpp"

namespace impipe {

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

// Where a place outside [0, n) is read: a place inside, or -1 for a constant or nothing.
std::int64_t map_outside(std::int64_t place, std::int64_t n, Border border);

// The part of the image that is read when all of `wanted`, which may reach outside, is.
Region inside(const Region& wanted, Size size, Border border);

// The input rectangle under an output rectangle of a neighbourhood, borders not yet applied.
Region under(const PrimitiveFacts& facts, const Region& out);

// The input rectangle that becomes an output rectangle; size is the input's.
Region permuted(const Permute& permute, const Region& out, Size size);

// What a node reads of an image of this size to make `out`; nodes that stand alone read all of it.
Region read_region(const Node& node, const Region& out, Size size);

}  // namespace impipe
