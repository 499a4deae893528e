// Meyer's flooding on the CPU.
#pragma once

#include "core/image.hpp"
#include "core/kernel_spec.hpp"

namespace impipe::cpu {

// labels, out: single. One pixel after another, in an order that the result follows from. Throws
// Error for NaN.
void run_flood(const Flood& flood, const Plane& heights, const Plane& labels, Plane& out);

}  // namespace impipe::cpu
