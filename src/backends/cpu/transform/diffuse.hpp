// Error diffusion after Floyd and Steinberg.
#pragma once

#include "backends/cpu/simd/level.hpp"
#include "core/image.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// in: one channel of any class; out: logical, of the same size. Bit for bit the raster loop in
// double on in / white: out = w >= 0.5, and 7, 3, 5, 1 sixteenths of w - out go right, below left,
// below and below right.
void run_diffuse(const Plane& in, double white, Plane& out, ThreadPool& pool, CpuLevel level);

}  // namespace impipe::cpu
