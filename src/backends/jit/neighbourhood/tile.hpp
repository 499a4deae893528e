// Rows, then columns in one kernel: a group makes the row pass of its tile in local memory and
// reads the column pass there. Separable filters, and rectangles of extrema that are not small.
#pragma once

#include "backends/jit/plan/kernel_plan.hpp"
#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// The kernel store_NAME that makes node n, of which one node has two passes, and stores it.
void write_tile_kernel(Builder& to, const KernelPlan& plan, int n);

}  // namespace impipe::jit
