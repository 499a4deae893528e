// An image at another size, or moved by an affine map.
#pragma once

#include "backends/cpu/simd/level.hpp"
#include "core/image.hpp"
#include "core/kernel_spec.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// outside: the value outside the image, for affine maps.
void run_resample(const Node& node, const Plane& in, double outside, Plane& out, ThreadPool& pool,
                  CpuLevel level);

}  // namespace impipe::cpu
