// Rank filters of large windows on a device: each work-item moves a window down a strip of a column
// and keeps a histogram of it in local memory.
#pragma once

#include "backends/jit/text/builder.hpp"
#include "core/kernel_spec.hpp"

namespace impipe::jit {

// The set cells whose neighbour above (dy -1) or below (1) is not set.
Mask edge_of(const Mask& mask, int dy);

// The kernel that makes node n and stores it. Its image is an input or stored.
void write_rank_histogram(Builder& to, int n);

}  // namespace impipe::jit
