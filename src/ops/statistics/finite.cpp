// Measurements of an image's finite values.
#include "ops/statistics/finite.hpp"

#include "ops/images.hpp"

// in: a sum, and of how many values.
IMPIPE_SCALAR_BODY(mean_of_counted, { out[0] = in[0] / in[1]; })

namespace impipe::ops {

FiniteRange finite_range(PlanBuilder& plan, const ImageValue& image) {
  const bool finite = !is_integer(image.type.cls);
  return {plan.reduce({.kind = ReduceKind::min, .finite = finite}, image, {}),
          plan.reduce({.kind = ReduceKind::max, .finite = finite}, image, {})};
}

FiniteSum finite_sum(PlanBuilder& plan, const ImageValue& image, ReduceKind kind) {
  return {plan.reduce({.kind = kind, .finite = true}, image, {}),
          plan.reduce({.kind = ReduceKind::count, .finite = true}, image, {})};
}

MeasureValue finite_mean(PlanBuilder& plan, const ImageValue& image) {
  const auto [total, count] = finite_sum(plan, image);
  return plan.scalar(bodies::mean_of_counted, {total, count}, {}, 1, image.type.channels);
}

}  // namespace impipe::ops
