// Local statistics of two images: means and variances of their sum and of their difference.
#pragma once

#include <span>

#include "core/image.hpp"
#include "core/kernel_spec.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// arguments: those of the node. x, y: of one size and any classes; out: single.
void run_moments(const Moments& what, std::span<const float> arguments, const Plane& x,
                 const Plane& y, Plane& out, ThreadPool& pool, CpuLevel level);

}  // namespace impipe::cpu
