// mean2, std2, sum, min, max and all of them together (stats): one number an image, or one a
// channel.
#include "ops/images.hpp"
#include "ops/statistics/across.hpp"
#include "ops/statistics/mean.hpp"

// Across the channels.
IMPIPE_SCALAR_BODY(total_of_channels, {
  double total = 0;
  for (int c = 0; c < (int)count[0]; ++c) total += in[c];
  out[0] = total;
})
// NaN is skipped: a channel without other values has NaN.
IMPIPE_SCALAR_BODY(min_of_channels, {
  out[0] = in[0];
  for (int c = 1; c < (int)count[0]; ++c) {
    if (in[c] < out[0] || out[0] != out[0]) out[0] = in[c];
  }
})
IMPIPE_SCALAR_BODY(largest_of_channels, {
  out[0] = in[0];
  for (int c = 1; c < (int)count[0]; ++c) {
    if (in[c] > out[0] || out[0] != out[0]) out[0] = in[c];
  }
})
// args: the pixels of a channel.
IMPIPE_SCALAR_BODY(mean_of_sums, {
  double total = 0;
  for (int c = 0; c < (int)count[0]; ++c) total += in[c];
  out[0] = total / (args[0] * count[0]);
})
// in: of each channel the squared deviations from its own mean, then the sums; args: the pixels of
// a channel. The sample's standard deviation over all channels, 0 for one value: a channel's mean
// is (channels * sum - all) / values beside that of all.
IMPIPE_SCALAR_BODY(deviation_of_codes, {
  const int channels = (int)count[0];
  const double values = args[0] * channels;
  double all = 0;
  for (int c = 0; c < channels; ++c) all += in[channels + c];
  double total = 0;
  for (int c = 0; c < channels; ++c) {
    const double difference = channels * in[channels + c] - all;
    total += in[c] + difference * difference / (values * channels);
  }
  out[0] = values > 1 ? sqrt(total / (values - 1)) : 0.0;
})
// in: sums of squared deviations; the sample's standard deviation, 0 for one value.
IMPIPE_SCALAR_BODY(deviation_of_sums, {
  double total = 0;
  for (int c = 0; c < (int)count[0]; ++c) total += in[c];
  const double values = args[0] * count[0];
  out[0] = values > 1 ? sqrt(total / (values - 1)) : 0.0;
})

namespace impipe::ops {
MeasureValue mean_of_sums(PlanBuilder& plan, MeasureValue sums, int channels) {
  return plan.scalar(bodies::mean_of_sums, {sums}, {pixels_argument}, 1, channels);
}

namespace {

// How many numbers the report has: one, or one a channel.
int columns(const Call& call, const ImageValue& image) {
  return call.word("columns") == "each" ? image.type.channels : 1;
}

MeasureValue reduced(PlanBuilder& plan, const ImageValue& image, ReduceKind kind,
                     const ScalarBody& across, int channels) {
  const MeasureValue m = plan.reduce({.kind = kind}, image, {});
  if (m.channels == channels) return m;
  return plan.scalar(across, {m}, {}, 1, 1);
}

// Of codes from exact sums, in one pass; of single about the mean.
MeasureValue deviation(PlanBuilder& plan, const ImageValue& image, MeasureValue sums,
                       int channels) {
  if (is_integer(image.type.cls)) {
    const MeasureValue spreads = plan.reduce({.kind = ReduceKind::spread}, image, {});
    return plan.scalar(bodies::deviation_of_codes, {spreads, sums}, {pixels_argument}, 1, channels);
  }
  const MeasureValue means = mean_of_sums(plan, sums, channels);
  const MeasureValue squares =
      plan.reduce({.kind = ReduceKind::squared_deviation}, image,
                  {channels > 1 ? Arg::per_channel(means, 0) : Arg::measured(means, 0)});
  return plan.scalar(bodies::deviation_of_sums, {squares}, {pixels_argument}, 1, channels);
}

ImageValue lower_mean2(const Call& call, PlanBuilder& plan) {
  const ImageValue image = measured_image(call, plan);
  const MeasureValue sums = plan.reduce({.kind = ReduceKind::sum}, image, {});
  plan.report("mean2", mean_of_sums(plan, sums, columns(call, image)));
  return plan.current();
}

ImageValue lower_std2(const Call& call, PlanBuilder& plan) {
  const ImageValue image = measured_image(call, plan);
  const int channels = columns(call, image);
  const MeasureValue sums = plan.reduce({.kind = ReduceKind::sum}, image, {});
  plan.report("std2", deviation(plan, image, sums, channels));
  return plan.current();
}

ImageValue lower_stats(const Call& call, PlanBuilder& plan) {
  const ImageValue image = measured_image(call, plan);
  const int channels = columns(call, image);
  const MeasureValue least =
      reduced(plan, image, ReduceKind::min, bodies::min_of_channels, channels);
  const MeasureValue largest =
      reduced(plan, image, ReduceKind::max, bodies::largest_of_channels, channels);
  const MeasureValue sums = plan.reduce({.kind = ReduceKind::sum}, image, {});
  plan.report("min", least);
  plan.report("max", largest);
  plan.report("sum", channels == sums.channels
                         ? sums
                         : plan.scalar(bodies::total_of_channels, {sums}, {}, 1, 1));
  plan.report("mean2", mean_of_sums(plan, sums, channels));
  plan.report("std2", deviation(plan, image, sums, channels));
  return plan.current();
}

const Parameter which_columns{.name = "columns",
                              .help = "image: one number over all channels; each: one a channel",
                              .words = {"image", "each"},
                              .fallback = "image"};

const RegisterOperator mean2_operator{{
    .name = "mean2",
    .help = "mean of all values",
    .parameters = {which_columns, measured_image_parameter(), across_parameter()},
    .details =
        "The sum over the number of values, in double, on the image's own scale. The image goes\n"
        "on unchanged; the number becomes a column of the report: mean2, the second one of a\n"
        "pipeline mean2.2, NAME with `mean2 as NAME`.",
    .example = "mean2 | std2",
    .accuracy = "exact sum for integer classes; 1e-15 relative to the sum of |x| for single",
    .not_finite = {NotFinite::Rule::other, "NaN makes NaN of the result; Inf by the formula"},
    .matlab = "mean2(A) (same)",
    .lower = lower_mean2,
}};

const RegisterOperator std2_operator{{
    .name = "std2",
    .help = "standard deviation of all values",
    .parameters = {which_columns, measured_image_parameter(), across_parameter()},
    .details = "sqrt(sum((x - mean)^2) / (N - 1)) in double; 0 for one value. Of integer classes\n"
               "from exact sums in one pass, of single in two.",
    .example = "std2 each",
    .accuracy = "1e-14 relative",
    .not_finite = {NotFinite::Rule::other, "NaN makes NaN of the result; Inf by the formula"},
    .matlab = "std2(A) (same)",
    .lower = lower_std2,
}};

const RegisterOperator sum_operator{{
    .name = "sum",
    .help = "sum of all values",
    .parameters = {which_columns, measured_image_parameter(), across_parameter()},
    .details = "Exact in 64 bits for integer classes, in double for single.",
    .example = "imbinarize | sum",
    .accuracy = "exact for integer classes; 1e-15 relative to the sum of |x| for single",
    .not_finite = {NotFinite::Rule::other, "NaN makes NaN of the result; Inf by the formula"},
    .matlab = "sum(A(:)) (there single for single)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const ImageValue image = measured_image(call, plan);
          plan.report("sum", reduced(plan, image, ReduceKind::sum, bodies::total_of_channels,
                                     columns(call, image)));
          return plan.current();
        },
}};

const RegisterOperator min_operator{{
    .name = "min",
    .help = "smallest value",
    .parameters = {which_columns, measured_image_parameter(), across_parameter()},
    .details = "NaN is skipped; NaN when there is nothing else.",
    .example = "min | max",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::left_out, "Inf is a value like others"},
    .matlab = "min(A(:)) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const ImageValue image = measured_image(call, plan);
          plan.report("min", reduced(plan, image, ReduceKind::min, bodies::min_of_channels,
                                     columns(call, image)));
          return plan.current();
        },
}};

const RegisterOperator max_operator{{
    .name = "max",
    .help = "largest value",
    .parameters = {which_columns, measured_image_parameter(), across_parameter()},
    .details = "NaN is skipped; NaN when there is nothing else.",
    .example = "min | max",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::left_out, "Inf is a value like others"},
    .matlab = "max(A(:)) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const ImageValue image = measured_image(call, plan);
          plan.report("max", reduced(plan, image, ReduceKind::max, bodies::largest_of_channels,
                                     columns(call, image)));
          return plan.current();
        },
}};

const RegisterOperator stats_operator{{
    .name = "stats",
    .help = "min, max, sum, mean2 and std2 together",
    .parameters = {which_columns, measured_image_parameter(), across_parameter()},
    .details =
        "The same numbers as the five operators, as five columns, in one pass over the image; for\n"
        "single std2 is a second one, about the mean. -o NAME.npy saves the five in this order.",
    .example = "stats each",
    .accuracy = "as min, max, sum, mean2 and std2",
    .not_finite = {NotFinite::Rule::other, "as min, max, sum, mean2 and std2"},
    .matlab = "[min(A(:)) max(A(:)) sum(A(:)) mean2(A) std2(A)]",
    .lower = lower_stats,
}};

}  // namespace
}  // namespace impipe::ops
