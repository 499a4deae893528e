// An image moved by a map.
#pragma once

#include <span>

#include "backends/cpu/simd/level.hpp"
#include "core/image.hpp"
#include "core/kernel_spec.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// The channels of an image, each from `in` to `out`, for a Resample that is no resize. outside: the
// value outside the image.
void run_map(const Node& node, std::span<const Plane* const> in, double outside,
             std::span<Plane* const> out, ThreadPool& pool, CpuLevel level);

}  // namespace impipe::cpu
