// The Radon transform.
#pragma once

#include <span>

#include "backends/cpu/simd/level.hpp"
#include "core/image.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// in: one channel of any class; out: single, one column an angle (in degrees), of the height that
// result_size says. Every pixel is four of a quarter of its value, half a pixel apart, each shared
// linearly by the two bins it lies between. Sums are in float over 64 rows and in double over
// those, in the one order of core/rays.hpp: the same bytes whatever the threads, and on every
// backend.
void run_project(std::span<const double> angles, const Plane& in, Plane& out, ThreadPool& pool,
                 CpuLevel level);

}  // namespace impipe::cpu
