// What operators that resample share.
#pragma once

#include <string_view>
#include <vector>

#include "core/plan_builder.hpp"

namespace impipe::ops {

inline Resample::Method method_named(std::string_view name) {
  if (name == "nearest") return Resample::Method::nearest;
  if (name == "bilinear") return Resample::Method::bilinear;
  if (name == "lanczos2") return Resample::Method::lanczos2;
  if (name == "lanczos3") return Resample::Method::lanczos3;
  return name == "box" ? Resample::Method::box : Resample::Method::bicubic;
}

// The primitive, which averages premultiplied colours where the image has an alpha.
ImageValue resampled(PlanBuilder& plan, const Resample& how, const ImageValue& image,
                     const std::vector<Arg>& arguments);

}  // namespace impipe::ops
