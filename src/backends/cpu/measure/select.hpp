// Exact order statistics of a plane of class single.
#pragma once

#include <vector>

#include "backends/cpu/tile/arguments.hpp"
#include "core/image.hpp"

namespace impipe::cpu {

// The values at the 0-based places of the sorted pixels, NaN last.
std::vector<double> select_values(const Plane& plane, const Arguments& places);

}  // namespace impipe::cpu
