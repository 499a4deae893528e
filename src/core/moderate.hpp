// Words of bodies for moderate numbers, beside those of core/vocabulary.hpp: GPUs leave out what a
// division and a root do for others (backends/jit/kernels/common.clh).
#pragma once

#include "core/vocabulary.hpp"

namespace impipe::bodies {

// a / b: a is 0, but not -0, and both are else between 2^-60 and 2^60 or their negatives.
IMPIPE_INLINE float quotient(float a, float b) { return a / b; }
IMPIPE_INLINE double quotient(double a, double b) { return a / b; }
// sqrt(x): x is 0, or between 2^-60 and 2^60.
IMPIPE_INLINE float root(float x) { return sqrt(x); }
IMPIPE_INLINE double root(double x) { return sqrt(x); }

}  // namespace impipe::bodies
