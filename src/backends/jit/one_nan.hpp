// One NaN for all that leaves a device, see core/one_nan.hpp.
#pragma once

#include "backends/jit/program/program.hpp"
#include "backends/jit/text/dialect.hpp"

namespace impipe::jit {

// Launched with LaunchValues that have no spec; the output is a stack of images of single.
Program one_nan(Dialect dialect);

}  // namespace impipe::jit
