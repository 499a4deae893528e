// Structuring elements, as Octave's strel makes them.
#pragma once

#include <optional>

#include "core/plan_builder.hpp"

namespace impipe::ops {

// The element's cells, its origin at floor((k - 1) / 2).
Mask rectangle_element(int rows, int columns);
Mask disk_element(int radius);
Mask diamond_element(int radius);
Mask octagon_element(int radius);
Mask line_element(double length, double degrees);

// The element that a parameter gives: a matrix of 0 and 1, a file of one, or `disk,3`.
Mask element_argument(const Call& call, std::string_view parameter);

// Turned by 180 degrees about its origin.
Mask reflected(const Mask& element);

}  // namespace impipe::ops
