// Points in front of measurements, which take away what is not finite.
#include "ops/statistics/finite.hpp"

#include "ops/images.hpp"

IMPIPE_POINT_BODY(finite_or_nan, (x), (), {
  const real apart = x - x;
  return apart == real(0) ? x : apart;
})
IMPIPE_POINT_BODY(finite_or_0, (x), (), { return x - x == real(0) ? x : real(0); })
IMPIPE_POINT_BODY(is_finite, (x), (), { return x - x == real(0) ? real(1) : real(0); })
// in: a sum, and of how many values.
IMPIPE_SCALAR_BODY(mean_of_counted, { out[0] = in[0] / in[1]; })

namespace impipe::ops {
namespace {

ImageValue made(PlanBuilder& plan, const PointBody& body, const ImageValue& image) {
  return plan.point(body, {image}, {}, like(image));
}

}  // namespace

ImageValue finite_or_nan(PlanBuilder& plan, const ImageValue& image) {
  return is_integer(image.type.cls) ? image : made(plan, bodies::finite_or_nan, image);
}

FiniteRange finite_range(PlanBuilder& plan, const ImageValue& image) {
  const ImageValue finite = finite_or_nan(plan, image);
  return {plan.reduce({.kind = ReduceKind::min}, finite, {}),
          plan.reduce({.kind = ReduceKind::max}, finite, {})};
}

FiniteSum finite_sum(PlanBuilder& plan, const ImageValue& image, ReduceKind kind) {
  const ImageValue values = made(plan, bodies::finite_or_0, image);
  const ImageValue counted = made(plan, bodies::is_finite, image);
  return {plan.reduce({.kind = kind}, values, {}),
          plan.reduce({.kind = ReduceKind::sum}, counted, {})};
}

MeasureValue finite_mean(PlanBuilder& plan, const ImageValue& image) {
  const auto [total, count] = finite_sum(plan, image);
  return plan.scalar(bodies::mean_of_counted, {total, count}, {}, 1, image.type.channels);
}

}  // namespace impipe::ops
