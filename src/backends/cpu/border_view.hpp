// Views of a tile's input in which every row and column that a neighbourhood reads exists.
#pragma once

#include "backends/cpu/neighbourhood.hpp"
#include "backends/cpu/region.hpp"

namespace impipe::cpu {

// What is outside when the border is `constant` or `absent`.
struct Outside {
  Border border = Border::constant;
  double value = 0;
};

// Rows in the image's own class. rows[0] is row wanted.y0 and points at column wanted.x0 + left;
// each row reaches from wanted.x0 to wanted.x1. Rows inside the image are used where they are.
const std::byte* const* native_rows(const TileImage& image, const Region& wanted, int left,
                                    const Outside& outside, Scratch& scratch);

// The same in float32.
const float* const* float_rows(const TileImage& image, const Region& wanted, int left,
                               const Outside& outside, Scratch& scratch, CpuLevel level);

}  // namespace impipe::cpu
