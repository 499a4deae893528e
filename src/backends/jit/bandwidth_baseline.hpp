// The plain copy and the plain read that other kernels are measured against.
#pragma once

#include "backends/jit/generator.hpp"
#include "core/backend.hpp"

namespace impipe::jit {

// Launched with LaunchValues that have no spec. copy_bytes: that a work-item copies, 1 to 16.
Program bandwidth_baseline(Baseline baseline, Dialect dialect, int copy_bytes = 16);

}  // namespace impipe::jit
