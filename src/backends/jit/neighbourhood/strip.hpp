// Neighbourhoods of neighbourhoods, or one of points, in one kernel: nothing between them is
// stored.
#pragma once

#include "backends/jit/plan/kernel_plan.hpp"
#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// The kernel store_NAME that makes node n as a chain and stores it.
void write_strip_kernel(Builder& to, const KernelPlan& plan, int n);

}  // namespace impipe::jit
