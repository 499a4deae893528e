// stretchlim: limits between which an image's values lie but for a part at each end.
#include "ops/images.hpp"
#include "ops/statistics/across.hpp"
#include "ops/statistics/histogram_limits.hpp"

// in: a histogram with one bin a code; args: low_part, high_part, white.
IMPIPE_GROUP_BODY(limits_from_codes, {
  const int bins = (int)count[0];
  const int part = (bins + items - 1) / items;
  const int first = item * part;
  const int end = first + part < bins ? first + part : bins;
  double own = 0;
  for (int i = first; i < end; ++i) own += in[i];
  double total;
  double seen = sum_before(own, &total);
  const double low_place = min(floor(args[0] * total), total - 1);
  const double high_place = max(ceil(args[1] * total) - 1, 0.0);
  // The first codes beyond the two places, counted from the end so that the first is the largest.
  int low_from_end = -1;
  int high_from_end = -1;
  for (int i = first; i < end; ++i) {
    seen += in[i];
    if (low_from_end < 0 && seen > low_place) low_from_end = bins - i;
    if (high_from_end < 0 && seen > high_place) high_from_end = bins - i;
  }
  const double low = bins - largest_of_group(low_from_end);
  const double high = bins - largest_of_group(high_from_end);
  if (item == 0) {
    out[0] = clamp(low / args[2], 0.0, 1.0);
    out[1] = clamp(high / args[2], 0.0, 1.0);
    if (out[0] == out[1]) {
      out[0] = 0;
      out[1] = 1;
    }
  }
})

// in: the two values; args: white.
IMPIPE_SCALAR_BODY(limits_from_values, {
  out[0] = clamp(in[0] / args[0], 0.0, 1.0);
  out[1] = clamp(in[1] / args[0], 0.0, 1.0);
  if (!(out[0] < out[1])) {
    out[0] = 0;
    out[1] = 1;
  }
})

// in: how many values there are; args: the parts. out: the places of both limits among them.
IMPIPE_SCALAR_BODY(limit_places, {
  out[0] = max(min(floor(args[0] * in[0]), in[0] - 1), 0.0);
  out[1] = max(ceil(args[1] * in[0]) - 1, 0.0);
})
IMPIPE_POINT_BODY(is_number, (x), (), { return x == x ? real(1) : real(0); })

namespace impipe::ops {

MeasureValue stretch_limits(PlanBuilder& plan, const ImageValue& image, double low_part,
                            double high_part) {
  const int channels = image.type.channels;
  if (image.type.cls == PixelClass::single) {
    // NaN, which is ordered behind all numbers, is left out.
    const ImageValue numbers = plan.point(bodies::is_number, {image}, {}, like(image));
    const MeasureValue places =
        plan.scalar(bodies::limit_places, {plan.reduce({.kind = ReduceKind::sum}, numbers, {})},
                    {low_part, high_part}, 2, channels);
    const MeasureValue values =
        plan.select(image, {Arg::per_channel(places, 0), Arg::per_channel(places, 1)});
    return plan.scalar(bodies::limits_from_values, {values}, {image.type.white}, 2, channels);
  }
  // Places are found by two short counts where one of all codes is long.
  if (image.type.cls == PixelClass::uint16) {
    const MeasureValue values =
        plan.select(image, {Argument{.source = Argument::Source::rank_floor, .value = low_part},
                            Argument{.source = Argument::Source::rank_ceil, .value = high_part}});
    return plan.scalar(bodies::limits_from_values, {values}, {image.type.white}, 2, channels);
  }
  const int bins = static_cast<int>(class_max(image.type.cls)) + 1;
  const MeasureValue codes = plan.histogram({.rule = BinRule::codes, .bins = bins}, image);
  return plan.scalar(bodies::limits_from_codes, {codes}, {low_part, high_part, image.type.white}, 2,
                     channels);
}

std::pair<double, double> tolerance_parts(const Call& call) {
  const std::vector<double>& tol = call.numbers("tol");
  const double low = tol[0];
  const double high = tol.size() > 1 ? tol[1] : 1 - tol[0];
  if (low > high) call.fail("tol", "the first part of tol must not be above the second");
  return {low, high};
}

namespace {

const RegisterOperator stretchlim_operator{{
    .name = "stretchlim",
    .help = "limits for imadjust that cut a part of the pixels at each end",
    .parameters = {{.name = "tol",
                    .help = "parts of the pixels below and above, low,high; t means t,1-t",
                    .numbers = {.max_count = 2, .low = 0, .high = 1},
                    .fallback = "0.01,0.99"},
                   measured_image_parameter(),
                   across_parameter()},
    .classes = no_logical,
    .details =
        "For each channel, with the N pixels sorted: low = s[floor(tol1 N)],\n"
        "high = s[ceil(tol2 N) - 1] (from 0), on the unit scale and clamped to [0,1];\n"
        "[0,1] when they are equal. Two numbers a channel. single: exact, by selection, of the\n"
        "values that are not NaN.",
    .example = "stretchlim tol=0.02",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::left_out,
                   "Inf is a value like others, a limit that is Inf is 1"},
    .matlab = "stretchlim(A,tol) (same for integer classes; MATLAB rounds single to k/255)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const ImageValue image = measured_image(call, plan);
          need_white(call, image);
          const auto [low, high] = tolerance_parts(call);
          plan.report("stretchlim", stretch_limits(plan, image, low, high), 1, {"low", "high"});
          return plan.current();
        },
}};

}  // namespace
}  // namespace impipe::ops
