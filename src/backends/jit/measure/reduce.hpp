// Reductions of one image that share a pass over it.
#pragma once

#include <string>

#include "backends/jit/plan/measure_plan.hpp"
#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// The kernels that make them, as the plan has them.
void write_reductions(Builder& builder, const Reductions& reductions);

// The totals of a sub-group's work-items (or of the first $end of them) in its first, by exchanged
// registers.
struct SubGroupJoin {
  std::string type, total;
  std::string both;       // of `total` and `other`
  std::string from, end;  // the steps: powers of two
  std::string test;       // whether a work-item joins what stands `step` further; empty: all do
};
std::string joined_in_sub_group(const SubGroupJoin& join);

// By cells of 32x32 pixels; nodes that are no sums or folds (the extrema) join in.
void write_cells(Builder& builder, const Reductions& reductions);

}  // namespace impipe::jit
