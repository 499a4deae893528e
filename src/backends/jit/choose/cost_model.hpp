// What a form's work takes on a device.
#pragma once

#include "backends/jit/plan/form.hpp"

namespace impipe::jit {

// Pixels of the image that costs are estimated for: 2048x2048.
inline constexpr double reference_pixels = 2048.0 * 2048.0;

// Microseconds of the work for such an image, by the device's coefficients. Memory and arithmetic
// overlap in part: the root of the sum of their squares is within a tenth of what rows of the sweep
// take on one H200 (docs/benchmarks/h200/forms.txt).
double microseconds(const Work& work, const Tuning& tuning);

}  // namespace impipe::jit
