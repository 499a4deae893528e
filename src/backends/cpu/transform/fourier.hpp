// Sums of very many weights by Fourier transforms of tiles.
#pragma once

#include <span>

#include "core/image.hpp"
#include "core/kernel_spec.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// arguments: those of the node. Any classes.
void run_fourier(const Stencil& what, std::span<const float> arguments, const Plane& in, Plane& out,
                 ThreadPool& pool, CpuLevel level);

}  // namespace impipe::cpu
