// Deviations of the values around each pixel.
#pragma once

#include <vector>

#include "core/body.hpp"
#include "core/image.hpp"
#include "core/kernel_spec.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// images: one of any class, or two of any; out: single.
void run_deviation(const Moments& deviation, const std::vector<const Plane*>& images, Plane& out,
                   ThreadPool& pool, CpuLevel level);

}  // namespace impipe::cpu
