// Formulas across the channels of a pixel that OpenColorIO has as fixed functions.
#pragma once

#include "core/colour_map.hpp"
#include "core/plan_builder.hpp"

namespace impipe::ops {

// The image has three channels and a white; the result is single with white 1. Values are taken
// from -65504 to 65504, others as the nearest of these.
ImageValue by_function(PlanBuilder& plan, const ImageValue& image, const FixedFunction& function);

}  // namespace impipe::ops
