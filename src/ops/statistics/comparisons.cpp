// immse, psnr, corr2 and ssim: how much two images differ, in one number.
#include <cmath>

#include "ops/filter/fspecial.hpp"
#include "ops/images.hpp"
#include "ops/morphology/element.hpp"
#include "ops/statistics/mean.hpp"

IMPIPE_POINT_BODY(apart, (x, y), (), { return abs(x - y); })
IMPIPE_POINT_BODY(deviations_multiplied, (x, y), (x_mean, y_mean),
                  { return (x - x_mean) * (y - y_mean); })

// Of the local means of x + y and x - y and of the variances of both: with their squares added and
// taken from each other, 2 (mx^2 + my^2) and 4 mx my, and likewise of the variances.
IMPIPE_POINT_BODY(structural_similarity, (sum, apart, sum_variance, apart_variance), (c1, c2), {
  const real sums = sum * sum;
  const real differences = apart * apart;
  const real light =
      (real(0.5) * (sums - differences) + c1) / (real(0.5) * (sums + differences) + c1);
  const real shape = (real(0.5) * (sum_variance - apart_variance) + c2) /
                     (real(0.5) * (sum_variance + apart_variance) + c2);
  return light * shape;
})

// in: the mean of the squared differences; args: white.
IMPIPE_SCALAR_BODY(peak_to_noise,
                   { out[0] = 10.0 / 2.302585092994046 * log(args[0] * args[0] / in[0]); })
// in: sums of products of deviations, of squared deviations of the one and of the other image.
IMPIPE_SCALAR_BODY(correlation, {
  const int channels = (int)count[0];
  double products = 0;
  double first = 0;
  double second = 0;
  for (int c = 0; c < channels; ++c) {
    products += in[c];
    first += in[channels + c];
    second += in[2 * channels + c];
  }
  out[0] = products / (sqrt(first) * sqrt(second));
})

namespace impipe::ops {
namespace {

ImageValue reference_of(const Call& call, const PlanBuilder& plan) {
  const std::string& name = call.value("reference").operands.front();
  const ImageValue other = matching_operand(call, plan, name);
  if (other.type.cls != plan.current().type.cls) {
    call.fail("reference", "the current image is " + std::string(name_of(plan.current().type.cls)) +
                               ", :" + name + " is " + std::string(name_of(other.type.cls)));
  }
  return other;
}

const Parameter reference_parameter{
    .name = "reference",
    .help = "the other image (:name), of equal size, channels and class",
    .takes = Takes::operand,
    .required = true};

MeasureValue mean_of(PlanBuilder& plan, const ImageValue& image) {
  return mean_of_sums(plan, plan.reduce({.kind = ReduceKind::sum}, image, {}), 1);
}

// The mean of (a - b)^2.
MeasureValue mean_square(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const ImageValue apart =
      plan.point(bodies::apart, {image, reference_of(call, plan)}, {}, like(image));
  return mean_of_sums(plan, plan.reduce({.kind = ReduceKind::squared_deviation}, apart, {0.0}), 1);
}

ImageValue lower_immse(const Call& call, PlanBuilder& plan) {
  plan.report("immse", mean_square(call, plan));
  return plan.current();
}

ImageValue lower_psnr(const Call& call, PlanBuilder& plan) {
  need_white(call, plan.current());
  const double white = plan.current().type.white;
  plan.report("psnr", plan.scalar(bodies::peak_to_noise, {mean_square(call, plan)}, {white}, 1, 1));
  return plan.current();
}

ImageValue lower_corr2(const Call& call, PlanBuilder& plan) {
  const ImageValue a = plan.current();
  const ImageValue b = reference_of(call, plan);
  const Arg a_mean = Arg::measured(mean_of(plan, a), 0);
  const Arg b_mean = Arg::measured(mean_of(plan, b), 0);
  const ImageValue products =
      plan.point(Point{.body = &bodies::deviations_multiplied, .in_double = true}, {a, b},
                 {a_mean, b_mean}, single_result);
  const MeasureValue sum = plan.reduce({.kind = ReduceKind::sum}, products, {});
  const MeasureValue a_squares = plan.reduce({.kind = ReduceKind::squared_deviation}, a, {a_mean});
  const MeasureValue b_squares = plan.reduce({.kind = ReduceKind::squared_deviation}, b, {b_mean});
  plan.report("corr2", plan.scalar(bodies::correlation, {sum, a_squares, b_squares}, {}, 1, 1));
  return a;
}

ImageValue lower_ssim(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  need_white(call, image);
  const ImageValue other = reference_of(call, plan);
  const double white = image.type.white, sigma = call.number("radius");
  const int reach = static_cast<int>(std::ceil(3 * sigma));
  const Matrix gaussian = gaussian_kernel(1, 2 * reach + 1, sigma);
  std::vector<Arg> args(gaussian.values.begin(), gaussian.values.end());
  for (const double k : {0.01, 0.03}) args.push_back((k * white) * (k * white));
  const int side = gaussian.columns;
  const Moments moments{.mask = rectangle_element(side, side),
                        .of = Moments::Of::weighted,
                        .border = Border::replicate,
                        .body = &bodies::structural_similarity};
  const ImageValue map =
      plan.whole(moments, {image.without_alpha(), other.without_alpha()}, args, single_result);
  plan.report("ssim", mean_of(plan, map));
  return image;
}

const RegisterOperator immse_operator{{
    .name = "immse",
    .help = "mean of the squared differences from another image",
    .parameters = {reference_parameter},
    .details = "mean((a - b)^2) over all pixels and channels, in the image's own units.",
    .example = "as a | medfilt2 | immse :a",
    .accuracy = "exact for integer classes up to rounding of the mean; single 1e-7 relative",
    .not_finite = {NotFinite::Rule::other, "NaN makes NaN of the result; Inf by the formula"},
    .matlab = "immse(A,B) (same)",
    .lower = lower_immse,
}};

const RegisterOperator psnr_operator{{
    .name = "psnr",
    .help = "peak signal to noise ratio to another image, in decibels",
    .parameters = {reference_parameter},
    .details = "10 log10(white^2 / immse); Inf when the images are equal.",
    .example = "as a | imgaussfilt 1 | psnr :a",
    .accuracy = "1e-9; single 1e-6",
    .not_finite = {NotFinite::Rule::other, "NaN makes NaN of the result; Inf by the formula"},
    .matlab = "psnr(A,B) (same)",
    .lower = lower_psnr,
}};

const RegisterOperator corr2_operator{{
    .name = "corr2",
    .help = "coefficient of correlation with another image",
    .parameters = {reference_parameter},
    .details =
        "sum (a - mean a)(b - mean b) / sqrt(sum (a - mean a)^2 sum (b - mean b)^2) over all "
        "values.\nNaN when one of the images is constant.",
    .example = "as a | imgaussfilt 1 | corr2 :a",
    .accuracy = "1e-7",
    .not_finite = {NotFinite::Rule::other, "NaN makes NaN of the result; Inf by the formula"},
    .matlab = "corr2(A,B) (same)",
    .lower = lower_corr2,
}};

const RegisterOperator ssim_operator{{
    .name = "ssim",
    .help = "structural similarity to another image, 1 when they are equal",
    .parameters = {reference_parameter,
                   {.name = "radius",
                    .letter = 'r',
                    .help = "standard deviation of the gaussian window, in pixels",
                    .numbers = {.max_count = 1, .low = 0.01, .high = 40},
                    .fallback = "1.5"}},
    .details =
        "Means m, variances s and the covariance under a gaussian of side 2 ceil(3 radius) + 1,\n"
        "replicate outside; (2 mx my + C1)(2 sxy + C2) / ((mx^2 + my^2 + C1)(sx^2 + sy^2 + C2)),\n"
        "C1 = (0.01 white)^2, C2 = (0.03 white)^2; the mean over all pixels and channels.",
    .example = "as a | imgaussfilt 1 | ssim :a",
    .accuracy =
        "1e-5; of single up to 100 white, beyond which means in float32 lose what variances are of",
    .not_finite = {NotFinite::Rule::other, "NaN makes NaN of the result; Inf by the formula"},
    .matlab = "ssim(A,B) (there RGB is filtered as a volume)",
    .lower = lower_ssim,
}};

}  // namespace
}  // namespace impipe::ops
