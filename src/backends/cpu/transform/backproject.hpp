// The inverse Radon transform by filtered back projection.
#pragma once

#include <span>

#include "core/image.hpp"
#include "core/kernel_spec.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// in: projections, one a column, one channel of any class; out: single, a square of the side that
// result_size says. arguments: those of the node. In double; the angles are added in their order.
// Throws Error when there are neither one nor as many angles as columns.
void run_backproject(const Project& what, std::span<const double> arguments, const Plane& in,
                     Plane& out, ThreadPool& pool);

}  // namespace impipe::cpu
