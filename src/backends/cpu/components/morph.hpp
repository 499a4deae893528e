// Tables of 3x3 windows, again and again, on the CPU.
#pragma once

#include "core/image.hpp"
#include "core/kernel_spec.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// in: logical, not 0 is 1; most: how often, or infinity.
void run_morph(const Morph& morph, double most, const Plane& in, Plane& out, ThreadPool& pool);

}  // namespace impipe::cpu
