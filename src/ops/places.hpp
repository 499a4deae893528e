// Where a pixel lies, as the values of an image.
#pragma once

#include <string_view>

#include "core/plan_builder.hpp"

namespace impipe::ops {

// Its column or row (`name` is "col" or "row"), counted from 0; exact up to 2^24.
ImageValue place_image(PlanBuilder& plan, const ImageValue& image, std::string_view name);

}  // namespace impipe::ops
