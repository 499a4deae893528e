// What project, stack and temporal have in common: their operations, and the class of the result.
#pragma once

#include "core/operator.hpp"

namespace impipe::ops {

inline constexpr NotFinite order_of_nan{
    NotFinite::Rule::other,
    "max, min and median sort NaN last (max is NaN where any image is, an even median where either "
    "middle is); mean, sum and std carry NaN and Inf as arithmetic does"};

inline Parameter class_of_result() {
  return {.name = "class",
          .help = "of the result; the unrounded value in raw units",
          .words = {"single", "uint8", "uint16"}};
}

inline Parameter axis_of_pages() {
  return {.name = "axis",
          .help = "of the file's axes the one to go along; the pages along the others stay apart",
          .words = {"z", "t", "c"}};
}

// The operation, the axis and the class of the result, as the call says them.
ImageReduction reduction_of(const Call& call, ImageReduction::Across across);

}  // namespace impipe::ops
