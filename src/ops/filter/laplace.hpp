// Fills holes smoothly: Laplace's equation on the pixels of a mask.
#pragma once

#include <cstdint>
#include <vector>

#include "core/image.hpp"

namespace impipe::ops {

// The pixels of a mask that are connected by sides.
struct Hole {
  std::int64_t left = 0, top = 0, width = 0, height = 0;  // their box
  std::vector<std::uint8_t> cells;                        // of the box, row by row
};
std::vector<Hole> holes_of(const Plane& mask);

// Makes the mean of its neighbours inside the image (by sides) of each pixel of the hole. values:
// row by row, of this size; those of the hole do not matter. The error is at most 1e-6 of the
// difference of the values around the hole, or 1e-12 of the largest. Where one around it is NaN or
// Inf they are what follows from it: NaN, or that Inf. A hole without a pixel around it stays as it
// is.
void fill_hole(const Hole& hole, std::vector<double>& values, Size size);

}  // namespace impipe::ops
