// Transpositions through tiles in local memory.
#pragma once

#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// The kernel that transposes a plane as a whole, which is node n, and stores it.
void write_transpose_kernel(Builder& to, int n);

}  // namespace impipe::jit
