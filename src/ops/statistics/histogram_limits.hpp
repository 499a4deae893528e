// Contrast limits of an image: the stretchlim rule, on the device.
#pragma once

#include "core/plan_builder.hpp"

namespace impipe::ops {

// For each channel [low, high] on the unit scale: the values at floor(low_part * N) and
// ceil(high_part * N) - 1 of the sorted pixels, [0, 1] when the two are equal.
MeasureValue stretch_limits(PlanBuilder& plan, const ImageValue& image, double low_part,
                            double high_part);

// The two parts from a `tol` parameter: one number t means [t, 1 - t].
std::pair<double, double> tolerance_parts(const Call& call);

}  // namespace impipe::ops
