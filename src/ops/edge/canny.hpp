// edge canny: the ridges of the gradient, strong ones and what they lead to.
#pragma once

#include <vector>

#include "core/plan_builder.hpp"

namespace impipe::ops {

// image: on the unit scale. thresholds: none, the upper one, or the lower and the upper one, as
// parts of the largest gradient.
ImageValue canny_edges(PlanBuilder& plan, const ImageValue& image,
                       const std::vector<double>& thresholds, double sigma);

}  // namespace impipe::ops
