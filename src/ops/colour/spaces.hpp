// Conversions between colour spaces that other operators build on.
#pragma once

#include "core/plan_builder.hpp"

namespace impipe::ops {

inline constexpr Result unit_single{.cls = PixelClass::single, .white = 1};

// CIE L*a*b* of an sRGB image with a white: L from 0 to 100.
ImageValue to_lab(PlanBuilder& plan, const ImageValue& image);
// The way back: single, white 1, not clamped.
ImageValue from_lab(PlanBuilder& plan, const ImageValue& lab);

}  // namespace impipe::ops
