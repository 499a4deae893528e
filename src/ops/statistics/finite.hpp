// Measurements of an image that leave out what is not finite.
#pragma once

#include "core/plan_builder.hpp"

namespace impipe::ops {

// The smallest and the largest finite value of each channel; NaN where there is none.
struct FiniteRange {
  MeasureValue low, high;
};
FiniteRange finite_range(PlanBuilder& plan, const ImageValue& image);

// The sum of each channel's finite values, or of their sizes (absolute_sum), and how many there
// are.
struct FiniteSum {
  MeasureValue total, count;
};
FiniteSum finite_sum(PlanBuilder& plan, const ImageValue& image, ReduceKind kind = ReduceKind::sum);

// The mean of each channel's finite values; NaN where there is none.
MeasureValue finite_mean(PlanBuilder& plan, const ImageValue& image);

}  // namespace impipe::ops
