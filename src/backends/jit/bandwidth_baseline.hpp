// The plain copy and the plain read that other kernels are measured against.
#pragma once

#include "backends/jit/generator.hpp"
#include "core/backend.hpp"

namespace impipe::jit {

// Launched with LaunchValues that have no spec.
Program bandwidth_baseline(Baseline baseline, Dialect dialect);

}  // namespace impipe::jit
