// What operators that resample share.
#pragma once

#include <string_view>

#include "core/kernel_spec.hpp"

namespace impipe::ops {

inline Resample::Method method_named(std::string_view name) {
  if (name == "nearest") return Resample::Method::nearest;
  if (name == "bilinear") return Resample::Method::bilinear;
  if (name == "lanczos2") return Resample::Method::lanczos2;
  if (name == "lanczos3") return Resample::Method::lanczos3;
  return name == "box" ? Resample::Method::box : Resample::Method::bicubic;
}

}  // namespace impipe::ops
