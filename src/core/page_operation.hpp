// What the host computes of a page's pixels: rows of them as doubles, the angle of its lines.
#pragma once

#include <cstdint>

#include "core/image.hpp"

namespace impipe {

// A pixel in the plane's own units.
double pixel_at(const Plane& plane, std::int64_t x, std::int64_t y);
// A row of a plane as doubles.
void load_row(const Plane& plane, std::int64_t y, double* values);
// Values as a row of a plane: rounded half up (logical: 1 from a half on) and saturated, NaN is 0.
void store_row(const double* values, Plane& plane, std::int64_t y);

// The angle by which the lines of a page of text are rotated, in degrees, the argument of imrotate
// that levels them: of the multiples of `step` up to
// `range` that at which neighbouring lines of pixels differ most in how many of them are ink, of
// equal ones the smallest, and 0 where there is no ink. ink: a logical plane.
double deskew_angle(const Plane& ink, double range, double step);

}  // namespace impipe
