// Exact order statistics of a single image.
#pragma once

#include <vector>

#include "backends/cpu/arguments.hpp"
#include "core/image.hpp"

namespace impipe::cpu {

// For each channel the values at the 0-based places of its sorted pixels, NaN last:
// [channels][places].
std::vector<double> select_values(const Plane& plane, const Arguments& places);

}  // namespace impipe::cpu
