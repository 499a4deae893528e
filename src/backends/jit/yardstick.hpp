// The plain copy and the plain read that other kernels are measured against.
#pragma once

#include "backends/jit/generator.hpp"
#include "core/backend.hpp"

namespace impipe::jit {

// Launched with LaunchValues that have no spec.
Program yardstick(Yardstick yardstick, Dialect dialect);

}  // namespace impipe::jit
