// sauvola, niblack and wolf: thresholds of documents, from the mean and deviation around each
// pixel.
#include <cmath>

#include "ops/images.hpp"
#include "ops/morphology/element.hpp"
#include "ops/statistics/finite.hpp"

// range: the deviation of strong contrast, in the image's own units.
IMPIPE_POINT_BODY(sauvola_threshold, (mean, variance), (k, range),
                  { return mean * (real(1) + k * (sqrt(variance) / range - real(1))); })
IMPIPE_POINT_BODY(niblack_threshold, (mean, variance), (k), { return mean + k * sqrt(variance); })
IMPIPE_POINT_BODY(wolf_threshold, (mean, variance), (k, darkest, most), {
  const real contrast = most > real(0) ? sqrt(variance) / sqrt(most) : real(0);
  return mean - k * (real(1) - contrast) * (mean - darkest);
})
IMPIPE_POINT_BODY(less_level, (x), (level), { return x - level; })
IMPIPE_POINT_BODY(plus_level, (x), (level), { return x + level; })
// NaN is not above anything.
IMPIPE_POINT_BODY(above_threshold, (x, threshold), (),
                  { return x > threshold ? real(1) : real(0); })

namespace impipe::ops {
namespace {

// What every threshold is made of.
struct LocalMoments {
  ImageValue image, mean, variance;
};

LocalMoments local_moments(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  const ImageValue image = plan.current();
  const std::vector<double>& sides = call.numbers("window");
  const Mask window =
      rectangle_element(static_cast<int>(sides.front()), static_cast<int>(sides.back()));
  const auto moment = [&](const ImageValue& of, Moments::Of what) {
    return plan.whole(Moments{.mask = window, .of = what}, {of}, {}, single_result);
  };
  if (image.type.cls != PixelClass::single) {
    return {image, moment(image, Moments::Of::mean), moment(image, Moments::Of::variance)};
  }
  // Sauvola multiplies the deviation by the mean: of floats around 1e5 it has to have all digits.
  const Arg level = Arg::measured(finite_mean(plan, image), 0);
  const ImageValue centred = plan.point(bodies::less_level, {image}, {level}, single_result);
  return {
      image,
      plan.point(bodies::plus_level, {moment(centred, Moments::Of::mean)}, {level}, single_result),
      moment(centred, Moments::Of::variance)};
}

// The threshold, or the pixels above it, as `out` says.
ImageValue result_of(const Call& call, PlanBuilder& plan, const LocalMoments& of,
                     const PointBody& body, std::vector<Arg> args) {
  const ImageValue threshold =
      plan.point(body, {of.mean, of.variance}, std::move(args),
                 {.cls = PixelClass::single, .white = of.image.type.white});
  if (call.word("out") == "threshold") return threshold;
  return plan.point(bodies::above_threshold, {of.image, threshold}, {}, logical_result);
}

ImageValue lower_sauvola(const Call& call, PlanBuilder& plan) {
  need_white(call, plan.current());
  const LocalMoments of = local_moments(call, plan);
  return result_of(call, plan, of, bodies::sauvola_threshold,
                   {call.number("k"), call.number("R") * of.image.type.white});
}

ImageValue lower_niblack(const Call& call, PlanBuilder& plan) {
  return result_of(call, plan, local_moments(call, plan), bodies::niblack_threshold,
                   {call.number("k")});
}

ImageValue lower_wolf(const Call& call, PlanBuilder& plan) {
  const LocalMoments of = local_moments(call, plan);
  const MeasureValue darkest = plan.reduce({.kind = ReduceKind::min}, of.image, {});
  const MeasureValue most = plan.reduce({.kind = ReduceKind::max}, of.variance, {});
  return result_of(call, plan, of, bodies::wolf_threshold,
                   {call.number("k"), Arg::measured(darkest, 0), Arg::measured(most, 0)});
}

Parameter window_parameter() {
  return {.name = "window",
          .letter = 'w',
          .help = "rows,columns around each pixel; one number: a square",
          .numbers = {.max_count = 2, .integer = true, .low = 1, .high = largest_matrix_side},
          .fallback = "15,15"};
}

Parameter weight_parameter(std::string_view help, std::string_view fallback) {
  return {.name = "k",
          .letter = 'k',
          .help = help,
          .numbers = {.max_count = 1, .low = -1000, .high = 1000},
          .fallback = fallback};
}

Parameter out_parameter() {
  return {.name = "out",
          .help = "the pixels above the threshold (logical), or the threshold itself (single)",
          .words = {"binary", "threshold"},
          .fallback = "binary"};
}

constexpr std::string_view accuracy =
    "exact but where x is the threshold to 2e-6 of white; the threshold 1e-5 of white";

const RegisterOperator sauvola_operator{{
    .name = "sauvola",
    .help = "logical image of a document's paper, by the contrast around each pixel",
    .parameters = {window_parameter(),
                   weight_parameter("how far the threshold lies below the mean without contrast",
                                    "0.2"),
                   {.name = "R",
                    .help = "deviation of full contrast, as a part of white",
                    .numbers = {.max_count = 1, .low = 1e-6, .high = 1000},
                    .fallback = "0.5"},
                   out_parameter()},
    .one_channel = true,
    .details =
        R"(x > m (1 + k (s / (R white) - 1)), with the mean m and the deviation s (of the population) in the
window, whose pixel floor((k-1)/2) lies on the output pixel, mirrored outside the image (edge included).
Paper is 1, ink is 0. Ink that touches the image's border goes with
  sauvola | imcomplement | imclearborder | imcomplement
out=threshold keeps the white. J. Sauvola, M. Pietikäinen, Adaptive document image binarization, 2000.)",
    .example = "sauvola 25",
    .accuracy = accuracy,
    .not_finite = {NotFinite::Rule::other,
                   "NaN makes the threshold NaN wherever the window reads it, and nothing is above "
                   "that: 0"},
    .matlab = "no such function; scikit-image: im > threshold_sauvola(im, window, k) (there "
              "mirrored without the edge pixel)",
    .lower = lower_sauvola,
}};

const RegisterOperator niblack_operator{{
    .name = "niblack",
    .help = "logical image of the pixels above mean + k deviation around them",
    .parameters = {window_parameter(),
                   weight_parameter("how many deviations the threshold lies above the mean",
                                    "-0.2"),
                   out_parameter()},
    .one_channel = true,
    .details =
        R"(x > m + k s, with the mean m and the deviation s (of the population) in the window, whose pixel
floor((k-1)/2) lies on the output pixel, mirrored outside the image (edge included). Where the window is
flat nothing is above it. out=threshold keeps the white. W. Niblack, An introduction to digital image
processing, 1986; scikit-image writes m - k s.)",
    .example = "niblack 25 k=-0.4",
    .accuracy = accuracy,
    .not_finite = {NotFinite::Rule::other,
                   "NaN makes the threshold NaN wherever the window reads it, and nothing is above "
                   "that: 0"},
    .matlab = "no such function; scikit-image: im > threshold_niblack(im, window, -k) (there "
              "mirrored without the edge pixel)",
    .lower = lower_niblack,
}};

const RegisterOperator wolf_operator{{
    .name = "wolf",
    .help = "logical image of a document's paper, by contrast relative to the image's own",
    .parameters = {window_parameter(),
                   weight_parameter("how far the threshold goes from the mean to the darkest value",
                                    "0.5"),
                   out_parameter()},
    .one_channel = true,
    .details =
        R"(x > m - k (1 - s / smax) (m - M), with the mean m and the deviation s (of the population) in the
window, whose pixel floor((k-1)/2) lies on the output pixel, mirrored outside the image (edge included);
M is the image's smallest value and smax the largest s (0: s / smax is 0). out=threshold keeps the
white. C. Wolf, J.-M. Jolion, Extraction and recognition of artificial text, 2003.)",
    .example = "wolf 31",
    .accuracy = accuracy,
    .not_finite = {NotFinite::Rule::other,
                   "NaN makes the threshold NaN wherever the window reads it, and nothing is above "
                   "that: 0; M and smax leave it out"},
    .matlab = "no such function (doxa and OpenCV's ximgproc have it)",
    .lower = lower_wolf,
}};

}  // namespace
}  // namespace impipe::ops
