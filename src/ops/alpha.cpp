// Averages over premultiplied colours.
#include "ops/alpha.hpp"

#include <cmath>

#include "ops/images.hpp"

IMPIPE_POINT_BODY(opacity, (alpha), (white), { return alpha / white; })
IMPIPE_POINT_BODY(transparency, (alpha), (white), { return real(1) - alpha / white; })
// A hidden colour may be NaN.
IMPIPE_POINT_BODY(premultiplied, (x, s), (), { return s == real(0) ? real(0) : x * s; })
IMPIPE_POINT_BODY(visible_part, (s), (weight), { return s / weight; })
IMPIPE_POINT_BODY(visible_part_here, (s, weight), (), { return s / weight; })
IMPIPE_POINT_BODY(rest_of_weight, (t), (weight), { return (weight - t) / weight; })
IMPIPE_POINT_BODY(always_one, (alpha), (), { return alpha < real(0) ? real(1) : real(1); })
IMPIPE_POINT_BODY(with_own_colour, (p, hidden_weight, x), (least),
                  { return abs(hidden_weight) <= least ? p : p + hidden_weight * x; })
IMPIPE_POINT_BODY(weight_beside, (s), (weight), { return weight - s; })
IMPIPE_POINT_BODY(unpremultiplied, (p, v, hidden), (), {
  const real off = v - real(1);
  const bool whole = abs(off) <= real(1.0 / 65536);
  return v < real(1.0 / 131072) ? hidden : whole ? p : p / v;
})
IMPIPE_POINT_BODY(alpha_of_part, (v), (white), {
  const real off = v - real(1);
  return abs(off) <= real(1.0 / 65536) ? white : min(max(v, real(0)), real(1)) * white;
})

namespace impipe::ops {
namespace {

// sums(s) / weight.
ImageValue visible_part(PlanBuilder& plan, const ImageValue& alpha, const ImageValue& s,
                        const Average& how) {
  if (how.weight == 0) {
    const ImageValue ones = plan.point(bodies::always_one, {alpha}, {}, single_result);
    return plan.point(bodies::visible_part_here,
                      {how.sums(s, 0, single_result), how.sums(ones, 0, single_result)}, {},
                      single_result);
  }
  if (!how.opaque_beside) {
    return plan.point(bodies::visible_part, {how.sums(s, 0, single_result)}, {how.weight},
                      single_result);
  }
  // Zeros beside an image of what is not to be seen.
  const ImageValue t = plan.point(bodies::transparency, {alpha}, {alpha.type.white}, single_result);
  return plan.point(bodies::rest_of_weight, {how.sums(t, 0, single_result)}, {how.weight},
                    single_result);
}

bool has_hidden_colours(const ImageValue& image) {
  return image.alpha >= 0 && image.type.cls != PixelClass::logical;
}

}  // namespace

ImageValue averaged(PlanBuilder& plan, const ImageValue& image, const Average& how, Result result) {
  const ImageValue plain = how.sums(image, how.beside, result);
  if (!has_hidden_colours(image)) return plain;
  const ImageValue alpha = plan.alpha_of(image);
  const double white = alpha.type.white;
  const ImageValue s = plan.point(bodies::opacity, {alpha}, {white}, single_result);
  const ImageValue v = visible_part(plan, alpha, s, how);
  const ImageValue colours =
      plan.point(bodies::premultiplied, {image.without_alpha(), s}, {}, single_result);
  const ImageValue p = how.sums(colours, how.opaque_beside ? how.beside : 0, single_result);
  const ImageValue part = plan.point(bodies::alpha_of_part, {v}, {white},
                                     {.cls = alpha.type.cls, .white = alpha.type.white});
  return plan.point(bodies::unpremultiplied, {p, v, plain}, {}, result).with_alpha(part.id);
}

ImageValue summed_beside_itself(PlanBuilder& plan, const ImageValue& image, const Average& how,
                                double sizes, Result result) {
  if (!has_hidden_colours(image)) return how.sums(image, how.beside, result);
  const ImageValue alpha = plan.alpha_of(image);
  const ImageValue x = image.without_alpha();
  const double white = alpha.type.white;
  const ImageValue s = plan.point(bodies::opacity, {alpha}, {white}, single_result);
  const ImageValue hidden =
      how.opaque_beside
          ? how.sums(plan.point(bodies::transparency, {alpha}, {white}, single_result), 0,
                     single_result)
          : plan.point(bodies::weight_beside, {how.sums(s, 0, single_result)}, {how.weight},
                       single_result);
  const ImageValue p = how.sums(plan.point(bodies::premultiplied, {x, s}, {}, single_result),
                                how.beside, single_result);
  return plan.point(bodies::with_own_colour, {p, hidden, x}, {std::ldexp(sizes, -16)}, result)
      .with_alpha(image.alpha);
}

}  // namespace impipe::ops
