// entropy, graycomatrix and graycoprops: how evenly values are spread, and which stand next to
// which.
#include <algorithm>

#include "core/expression.hpp"
#include "core/pair_code.hpp"
#include "ops/images.hpp"
#include "ops/statistics/across.hpp"

// in: [channels][bins] counts.
IMPIPE_SCALAR_BODY(entropy_of_counts, {
  const int n = (int)count[0];
  const int bins = (int)args[0];
  double all = 0;
  for (int i = 0; i < n; ++i) all += in[i];
  double bits = 0;
  for (int b = 0; b < bins; ++b) {
    double counted = 0;
    for (int i = b; i < n; i += bins) counted += in[i];
    const double part = counted / all;
    if (counted > 0) bits -= part * log(part) / 0.6931471805599453;
  }
  out[0] = bits;
})
// The level of a value; NaN stays NaN.
IMPIPE_POINT_BODY(gray_level, (x), (levels, low, range), {
  const real level = range > real(0) ? floor(levels * (x - low) / range) : (x == x ? real(0) : x);
  const real above = level < real(0) ? real(0) : level;
  return above > levels - real(1) ? levels - real(1) : above;
})
// A matrix of counts and its transpose, added.
IMPIPE_SCALAR_BODY(counts_both_ways, {
  const int n = (int)args[0];
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) out[i * n + j] = in[i * n + j] + in[j * n + i];
  }
})
IMPIPE_SCALAR_BODY(properties_of_counts, {
  const int n = (int)args[0];
  double all = 0;
  double rows = 0;
  double columns = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      all += in[i * n + j];
      rows += i * in[i * n + j];
      columns += j * in[i * n + j];
    }
  }
  const double row_mean = rows / all;
  const double column_mean = columns / all;
  double row_variance = 0;
  double column_variance = 0;
  double covariance = 0;
  double contrast = 0;
  double energy = 0;
  double homogeneity = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const double p = in[i * n + j] / all;
      const double down = i - row_mean;
      const double across = j - column_mean;
      const double apart = i > j ? i - j : j - i;
      row_variance += down * down * p;
      column_variance += across * across * p;
      covariance += down * across * p;
      contrast += apart * apart * p;
      energy += p * p;
      homogeneity += p / (1 + apart);
    }
  }
  out[0] = contrast;
  out[1] = covariance / (sqrt(row_variance) * sqrt(column_variance));
  out[2] = energy;
  out[3] = homogeneity;
})

namespace impipe::ops {
namespace {

ImageValue lower_entropy(const Call& call, PlanBuilder& plan) {
  const ImageValue image = measured_image(call, plan);
  need_white(call, image);
  const bool logical = image.type.cls == PixelClass::logical;
  const ImageValue codes = logical ? image : to_uint8(plan, image);
  const int bins = logical ? 2 : 256;
  const MeasureValue counts = plan.histogram({.rule = BinRule::codes, .bins = bins}, codes);
  plan.report("entropy",
              plan.scalar(bodies::entropy_of_counts, {counts}, {static_cast<double>(bins)}, 1, 1));
  return plan.current();
}

// The counts of pairs of levels, of which there are `levels`.
struct Pairs {
  MeasureValue counts;
  int levels;
};

Pairs pairs_of(const Call& call, PlanBuilder& plan) {
  const ImageValue image = measured_image(call, plan);
  const bool logical = image.type.cls == PixelClass::logical;
  const int levels = call.given("levels") ? static_cast<int>(call.number("levels"))
                     : logical            ? 2
                                          : 8;
  if (!call.given("limits")) need_white(call, image);
  const double low = call.given("limits") ? call.number("limits", 0) : 0;
  const double high = call.given("limits") ? call.number("limits", 1) : image.type.white;
  if (low > high) call.fail("limits", "the lower limit comes first");
  const ImageValue level =
      plan.point(Point{.body = &bodies::gray_level, .in_double = true}, {image},
                 {static_cast<double>(levels), low, high - low}, single_result);
  // Neighbours outside the image make codes below 0, which are not counted.
  const double outside = -static_cast<double>(levels) * levels;
  const ImageValue neighbour = plan.window(
      {.border = Border::constant}, level,
      {call.number("offset", 1), 0.0, 0.0, 1.0, call.number("offset", 0), 0.0, 0.0, 1.0, outside});
  const ImageValue codes = plan.point(pair_code_body(), {level, neighbour},
                                      {static_cast<double>(levels)}, single_result);
  MeasureValue counts =
      plan.histogram({.rule = BinRule::user,
                      .bins = levels * levels,
                      .expression = std::make_shared<const Expression>(
                          parse_expression("x", {.known = {"x"}}).with_variables({"x", "white"}))},
                     codes);
  if (call.word("symmetric") == "on") {
    counts = plan.scalar(bodies::counts_both_ways, {counts}, {static_cast<double>(levels)},
                         levels * levels, 1);
  }
  return {counts, levels};
}

std::vector<Parameter> pair_parameters() {
  return {{.name = "levels",
           .letter = 'n',
           .help = "number of levels of gray; 8 when not given, 2 for logical",
           .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 256}},
          {.name = "offset",
           .help = "rows,columns from a pixel to the other one of its pair",
           .numbers = {.max_count = 2, .min_count = 2, .integer = true, .low = -1e6, .high = 1e6},
           .fallback = "0,1"},
          {.name = "limits",
           .help = "values of the lowest and the highest level, in the image's own units; 0,white "
                   "when not given",
           .numbers = {.max_count = 2, .min_count = 2}},
          {.name = "symmetric",
           .help = "whether a pair is counted in both orders",
           .words = {"on", "off"},
           .fallback = "off"},
          measured_image_parameter()};
}

const RegisterOperator entropy_operator{{
    .name = "entropy",
    .help = "entropy of all values, in bits",
    .parameters = {measured_image_parameter(), across_parameter()},
    .details = "-sum p log2 p over the 256 values of im2uint8 (logical: over both), p being the\n"
               "part of all channels' values that have this one. entropyfilt has it around each\n"
               "pixel.",
    .example = "entropy",
    .accuracy = "1e-9; single 1e-4 where values lie on the border of two of uint8",
    .not_finite = {NotFinite::Rule::zero, "Inf saturates"},
    .matlab = "entropy(A) (same)",
    .lower = lower_entropy,
}};

const RegisterOperator graycomatrix_operator{{
    .name = "graycomatrix",
    .help = "how often which two levels of gray lie side by side (-o NAME.npy saves the counts)",
    .parameters = pair_parameters(),
    .one_channel = true,
    .details =
        R"(The level of x is floor(levels (x - low) / (high - low)), at least 0 and at most levels - 1, in double;
0 for all where both limits are equal. G(i,j) is how many pixels of level i (row) have level j (column)
at `offset` from them, both inside the image. symmetric=on adds the transpose.
The counts are columns of the report, row by row, more than 4,096 only with --json; -o '{stem}.npy'
saves them. graycoprops measures them.)",
    .example = "graycomatrix 16 offset=-1,1",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::left_out, "Inf has the level at its end"},
    .matlab = "graycomatrix(A,'NumLevels',n,'Offset',[r c]) (there slope x + intercept, which may "
              "differ where a value lies between two levels)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const Pairs pairs = pairs_of(call, plan);
          plan.report_table("graycomatrix", pairs.counts, pairs.levels);
          return plan.current();
        },
}};

const RegisterOperator graycoprops_operator{{
    .name = "graycoprops",
    .help = "contrast, correlation, energy and homogeneity of the pairs of graycomatrix",
    .parameters = pair_parameters(),
    .one_channel = true,
    .details =
        R"(Four numbers of the matrix that graycomatrix makes with the same parameters, p being its counts divided
by their sum: Contrast sum |i-j|^2 p; Correlation sum (i - mi) (j - mj) p / (si sj), NaN where a
deviation is 0; Energy sum p^2; Homogeneity sum p / (1 + |i-j|). NaN where there is no pair.
Columns graycoprops_1 to graycoprops_4; of `graycoprops as t` expressions have t.Contrast and the others.)",
    .example = "graycoprops offset=0,2",
    .accuracy = "1e-9",
    .not_finite = {NotFinite::Rule::left_out, "Inf has the level at its end"},
    .matlab = "graycoprops(graycomatrix(A,…)) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const Pairs pairs = pairs_of(call, plan);
          plan.report("graycoprops",
                      plan.scalar(bodies::properties_of_counts, {pairs.counts},
                                  {static_cast<double>(pairs.levels)}, 4, 1),
                      4, {"Contrast", "Correlation", "Energy", "Homogeneity"});
          return plan.current();
        },
}};

}  // namespace
}  // namespace impipe::ops
