// A word of bodies beside those of core/vocabulary.hpp.
#pragma once

#include "core/vocabulary.hpp"

namespace impipe::bodies {

// a / b of moderate numbers: a is 0, but not -0, and both are else between 2^-60 and 2^60 or their
// negatives. GPUs leave out what a division does for others (backends/jit/kernels/common.clh).
IMPIPE_INLINE float quotient(float a, float b) { return a / b; }
IMPIPE_INLINE double quotient(double a, double b) { return a / b; }

}  // namespace impipe::bodies
