// Extrema over large masks that are no rectangles: discs, diamonds, lines. The cost grows with the
// rows of the mask, not with its cells.
#pragma once

#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// The kernels that make node n and store it. Its image is an input or stored.
void write_mask_runs(Builder& to, int n);

}  // namespace impipe::jit
