// mat2gray: stretches an image's own range of values to [0, 1].
#include "ops/images.hpp"
#include "ops/statistics/finite.hpp"

// A constant image (low = high) is clamped instead.
IMPIPE_POINT_BODY(mat2gray, (x), (low, high), {
  return high > low ? clamp((x - low) / (high - low), real(0), real(1))
                    : clamp(x, real(0), real(1));
})

// in: the channels' smallest values, then their largest; NaN is skipped.
IMPIPE_SCALAR_BODY(overall_range, {
  const int channels = (int)count[0];
  out[0] = in[0];
  out[1] = in[channels];
  for (int c = 1; c < channels; ++c) {
    const double low = in[c];
    const double high = in[channels + c];
    if (low < out[0] || out[0] != out[0]) out[0] = low;
    if (high > out[1] || out[1] != out[1]) out[1] = high;
  }
})

namespace impipe::ops {
namespace {

ImageValue lower_mat2gray(const Call& call, PlanBuilder& plan) {
  constexpr Result unit{.cls = PixelClass::single, .white = 1};
  const ImageValue image = plan.current();
  if (call.has("limits")) {
    const double low = call.number("limits", 0), high = call.number("limits", 1);
    if (low > high) call.fail("limits", "the first limit must not be above the second");
    // Limits that float32 does not hold are not rounded first.
    const bool exact = low == static_cast<float>(low) && high == static_cast<float>(high);
    return plan.point(Point{.body = &bodies::mat2gray, .in_double = !exact}, {image}, {low, high},
                      unit);
  }
  const auto [low, high] = finite_range(plan, image);
  const MeasureValue range = plan.scalar(bodies::overall_range, {low, high}, {}, 2, 1);
  return plan.point(bodies::mat2gray, {image}, {Arg::measured(range, 0), Arg::measured(range, 1)},
                    unit);
}

const RegisterOperator mat2gray_operator{{
    .name = "mat2gray",
    .help = "stretch the image's range of values to [0,1]; the result is single, white 1",
    .parameters = {{.name = "limits",
                    .help = "low,high in the image's own units; measured when not given",
                    .numbers = {.max_count = 2, .min_count = 2}}},
    .details =
        "(x - low) / (high - low) in float32 (in double for limits that float32 does not hold),\n"
        "clamped to [0,1]; low and high are the smallest\n"
        "and the largest finite value over all channels. A constant image is clamped\n"
        "to [0,1]. This is what makes distances, projections and kernels displayable.",
    .example = "fspecial log size=15 sigma=2 | mat2gray",
    .accuracy = "2e-7",
    .not_finite = {NotFinite::Rule::propagated,
                   "measured limits are of the finite values; Inf is clamped"},
    .matlab = "mat2gray(A,[low high]) (there in double)",
    .lower = lower_mat2gray,
}};

}  // namespace
}  // namespace impipe::ops
