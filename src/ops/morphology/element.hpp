// Structuring elements, as Octave's strel makes them.
#pragma once

#include "core/plan_builder.hpp"

namespace impipe::ops {

// The element's cells, its origin at floor((k - 1) / 2).
Mask rectangle_element(int rows, int columns);
Mask disk_element(int radius);
// MATLAB's strel("disk",radius,lines), lines being 4, 6 or 8: a sum of periodic lines (Adams,
// Radial decomposition of discs and spheres, 1993).
Mask disk_of_lines(int radius, int lines);
Mask diamond_element(int radius);
Mask octagon_element(int radius);
Mask line_element(double length, double degrees);
// The cells k * (down, right) from the centre, first <= k <= last.
Mask periodic_line_element(int first, int last, int down, int right);

// The element that a parameter gives: a matrix of 0 and 1, a file of one, or `disk,3`.
Mask element_argument(const Call& call, std::string_view parameter);

// Turned by 180 degrees about its origin.
Mask reflected(const Mask& element);

// The matrix that a parameter gives for the cells of an element: as large as it.
Matrix heights_argument(const Call& call, std::string_view parameter, const Mask& element);
// Those of the set cells, in row-major order, as they are added to pixels of the class: rounded
// half up for integers, which is the same as rounding each sum half away from zero and saturating
// it.
std::vector<double> heights_of(const Matrix& heights, const Mask& element, PixelClass cls);

}  // namespace impipe::ops
