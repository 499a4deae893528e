// Exact order statistics of a plane of class single or uint16.
#pragma once

#include <vector>

#include "backends/cpu/tile/arguments.hpp"
#include "core/image.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// The values at the 0-based places of the sorted pixels, NaN last.
std::vector<double> select_values(const Plane& plane, const Arguments& places, ThreadPool& pool);

}  // namespace impipe::cpu
