// The angle by which the lines of a page of text are turned.
#pragma once

#include "core/image.hpp"

namespace impipe {

// In degrees, the argument of imrotate that levels the lines: of the multiples of `step` up to
// `range` that at which neighbouring lines of pixels differ most in how many of them are ink, of
// equal ones the smallest, and 0 where there is no ink. ink: a logical plane.
double deskew_angle(const Plane& ink, double range, double step);

}  // namespace impipe
