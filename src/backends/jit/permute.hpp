// Transpositions through tiles in local memory.
#pragma once

#include "backends/jit/builder.hpp"

namespace impipe::jit {

// Whether node n transposes a plane as a whole.
bool fits_tiles(const Builder& to, const std::function<bool(int)>& stored, int n);
void write_transpose_kernel(Builder& to, int n);

}  // namespace impipe::jit
