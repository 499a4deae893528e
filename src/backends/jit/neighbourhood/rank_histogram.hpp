// Rank filters of large windows on a device: each work-item moves a window down a strip of a column
// and keeps a histogram of it in local memory.
#pragma once

#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// The kernel that makes node n and stores it. Its image is an input or stored.
void write_rank_histogram(Builder& to, int n);

}  // namespace impipe::jit
