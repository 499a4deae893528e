// Otsu's threshold of an image, on the device.
#pragma once

#include "core/plan_builder.hpp"

namespace impipe::ops {

// Of a one-channel image: element 0 the threshold on the unit scale, element 1 in the image's own
// units (a pixel is above it when x > threshold).
MeasureValue otsu_threshold(PlanBuilder& plan, const ImageValue& image);

}  // namespace impipe::ops
