// Images in another class; what is white stays white.
#pragma once

#include "core/plan_builder.hpp"

namespace impipe::ops {

// im2uint8 of an image that has a white.
ImageValue to_uint8(PlanBuilder& plan, const ImageValue& image);

}  // namespace impipe::ops
