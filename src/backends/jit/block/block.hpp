// Image kernels in which a work-item makes a block of pixels: wide loads, neighbourhoods held in
// registers, wide stores. Same results as one pixel a work-item.
#pragma once

#include "backends/jit/plan/form.hpp"
#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// The kernel that makes the row pass of separable node n in blocks, in the plane nN_rows.
void write_block_rows(Builder& builder, const KernelPlan& plan, int n);

}  // namespace impipe::jit
