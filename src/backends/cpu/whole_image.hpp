// Runs the primitives that read and make their image as a whole.
#pragma once

#include <vector>

#include "backends/cpu/simd/level.hpp"
#include "backends/cpu/tile/arguments.hpp"
#include "core/image.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// An image node of a kernel of its own. images: the node's, in their order; out is allocated, of
// the size that result_size says.
void run_whole_image(const Node& node, const Arguments& arguments,
                     const std::vector<const Plane*>& images, Plane& out, ThreadPool& pool,
                     CpuLevel level);

}  // namespace impipe::cpu
