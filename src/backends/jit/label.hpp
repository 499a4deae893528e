// Connected components on a GPU.
#pragma once

#include <string>

#include "backends/jit/builder.hpp"

namespace impipe::jit {

// The kernels of Label node n, which stands alone: its image is stored in the end.
void write_label(Builder& to, int n);
// Those whose values spread step by step: reach, and reconstruct and holes of gray images.
void write_spread(Builder& to, int n);

// Functions over words of 32 pixels of a column.
std::string label_functions();

}  // namespace impipe::jit
