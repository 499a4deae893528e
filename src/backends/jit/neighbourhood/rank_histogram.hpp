// Rank filters of large windows on a device: each work-item moves a window down a strip of a column
// and keeps a histogram of it in local memory.
#pragma once

#include "backends/jit/plan/form.hpp"
#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// The set cells whose neighbour above (dy -1) or below (1) is not set.
Mask edge_of(const Mask& mask, int dy);
// Whether the columns of a mask are few enough that histograms of bytes count the ends of each.
bool takes_columns(const KernelContext& of, const Mask& mask);

}  // namespace impipe::jit
