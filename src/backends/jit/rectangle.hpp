// Extrema over rectangles of any size, at a cost that does not grow with the sides.
#pragma once

#include "backends/jit/builder.hpp"

namespace impipe::jit {

// Whether node n is an extremum over a rectangle with a side that pays.
bool is_rectangle(const Builder& to, int n);

// The kernels that make node n and store it; its image is an input or stored.
void write_rectangle_kernels(Builder& to, int n);

}  // namespace impipe::jit
