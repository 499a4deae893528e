// Averages of pixels that have an alpha: what cannot be seen has no part in a colour that can.
#pragma once

#include <functional>

#include "core/plan_builder.hpp"

namespace impipe::ops {

// Sums of pixels that lie around a place.
struct Average {
  // The sums of an image, beside which there is this value if it is the rule for the border.
  std::function<ImageValue(const ImageValue& image, double beside, Result result)> sums;
  double weight = 1;  // all weights together, above 0; or 0: that varies with the place
  double beside = 0;
  bool opaque_beside = false;  // that value is to be seen
};

// With s = alpha / white and v = sums(s) / weight, all in float32: sums(s x) / v, without the
// division where |v - 1| <= 2^-16; sums(x) where v < 2^-17, so little that nothing is to be seen.
// Hence the sums as without alpha, bit for bit, where all that they reach is opaque (but of codes
// under boxes, whose sums are those of whole numbers). Alpha: white v, v being cut off at 0 and 1.
ImageValue averaged(PlanBuilder& plan, const ImageValue& image, const Average& how, Result result);

// For weights of which some are below 0, that sharpen or take differences: what cannot be seen
// counts as the place's own colour. sums(s x) + (weight - sums(s)) x, where the second term is left
// out if it is at most 2^-16 of all weights' absolute values, `sizes`. Alpha stays.
ImageValue summed_beside_itself(PlanBuilder& plan, const ImageValue& image, const Average& how,
                                double sizes, Result result);

}  // namespace impipe::ops
