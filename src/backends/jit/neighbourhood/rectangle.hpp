// Extrema over rectangles of any size, at a cost that does not grow with the sides.
#pragma once

#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// The kernels that make node n and store it; its image is an input or stored.
void write_rectangle_kernels(Builder& to, int n);

}  // namespace impipe::jit
