// Copies the pixels of another library's array, of any strides, to planes.
#pragma once

#include "backends/jit/program/program.hpp"
#include "backends/jit/text/dialect.hpp"

namespace impipe::jit {

// Launched with LaunchValues that have an array and no spec; the input is the array's memory, the
// output an image of its type and size.
Program gather(Dialect dialect);

}  // namespace impipe::jit
