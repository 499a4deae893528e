// Deviations of the values around each pixel.
#pragma once

#include "core/body.hpp"
#include "core/image.hpp"
#include "core/kernel_spec.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// in: of any class; out: single.
void run_deviation(const Deviation& deviation, const Plane& in, Plane& out, ThreadPool& pool,
                   CpuLevel level);

}  // namespace impipe::cpu
