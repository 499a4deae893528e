// Pixels through a conversion between colour spaces.
#pragma once

#include "core/colour_map.hpp"
#include "core/plan_builder.hpp"

namespace impipe::ops {

// The image has a white, and as many channels as the conversion is of. Values of single images are
// taken from -65504 to 65504 by curves, others as the nearest of these.
ImageValue converted(PlanBuilder& plan, const ImageValue& image, const ColourMap& map,
                     Result result);

}  // namespace impipe::ops
