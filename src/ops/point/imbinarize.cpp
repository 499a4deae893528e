// imbinarize and im2bw: which pixels are above a level.
#include <cmath>

#include "ops/filter/correlate.hpp"
#include "ops/filter/fspecial.hpp"
#include "ops/images.hpp"
#include "ops/statistics/otsu.hpp"

// NaN is not above anything.
IMPIPE_POINT_BODY(above, (x), (threshold), { return x > threshold ? real(1) : real(0); })
IMPIPE_POINT_BODY(above_mean, (x, mean), (scale), { return x > scale * mean ? real(1) : real(0); })

namespace impipe::ops {
namespace {

// MATLAB's adaptthresh after D. Bradley, G. Roth, Adapting thresholding using the integral image,
// 2007: a part of the local mean, or for bright pixels somewhat more than it.
ImageValue lower_adaptive(const Call& call, PlanBuilder& plan, const ImageValue& image) {
  if (!call.given("window")) {
    call.fail("level",
              "adaptive compares with the mean over window=ROWS,COLUMNS; MATLAB's own follows from "
              "the picture: 2*floor(size/16)+1, which is 135,241 for 1920x1080");
  }
  const std::vector<double>& sides = call.numbers("window");
  const double sensitivity = call.number("sensitivity");
  const double scale = call.word("foreground") == "dark" ? 0.4 + sensitivity : 1.6 - sensitivity;
  const Matrix window =
      average_kernel(static_cast<int>(sides.front()), static_cast<int>(sides.back()));
  const ImageValue mean =
      correlate(plan, image, window,
                {.border = Border::replicate,
                 .result = {.cls = PixelClass::single, .white = image.type.white}});
  return plan.point(bodies::above_mean, {image, mean}, {scale}, logical_result);
}

ImageValue lower_binarize(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  plan.drop_alpha();
  if (image.type.cls == PixelClass::logical) return image;
  need_white(call, image);
  if (call.word("level") == "adaptive") return lower_adaptive(call, plan, image);
  if (call.word("level") == "graythresh") {
    return plan.point(bodies::above, {image}, {Arg::measured(otsu_threshold(plan, image), 1)},
                      logical_result);
  }
  // floor: for codes it changes nothing, and it takes the rounding of level * 255 away.
  const double threshold = call.number("level") * image.type.white;
  const bool codes = is_integer(image.type.cls);
  return plan.point(bodies::above, {image}, {codes ? std::floor(threshold) : threshold},
                    logical_result);
}

ImageValue lower_imbinarize(const Call& call, PlanBuilder& plan) {
  if (call.word("level") != "adaptive") {
    for (const std::string_view own : {"sensitivity", "foreground", "window"}) {
      if (call.given(own)) call.fail(own, "it belongs to adaptive: imbinarize adaptive window=31");
    }
  }
  return lower_binarize(call, plan);
}

Parameter level(std::string_view help, std::vector<std::string_view> words,
                std::string_view fallback) {
  return {.name = "level",
          .letter = 't',
          .help = help,
          .numbers = {.max_count = 1, .low = 0, .high = 1},
          .words = std::move(words),
          .fallback = fallback};
}

constexpr std::string_view binarize_details =
    "x > level * white, strictly; NaN is false; a logical image stays as it is.\n"
    "graythresh: the threshold is measured on each image (see graythresh) and never leaves the "
    "device.";

const RegisterOperator imbinarize_operator{{
    .name = "imbinarize",
    .help = "logical image of the pixels above a level (default: Otsu's)",
    .parameters =
        {level("threshold on the unit scale; graythresh: Otsu's; adaptive: by the local mean",
               {"graythresh", "adaptive"}, "graythresh"),
         {.name = "sensitivity",
          .help = "of adaptive: the higher, the more pixels are set",
          .numbers = {.max_count = 1, .low = 0, .high = 1},
          .fallback = "0.5"},
         {.name = "foreground",
          .help = "of adaptive: what is looked for",
          .words = {"bright", "dark"},
          .fallback = "bright"},
         {.name = "window",
          .letter = 'k',
          .help = "of adaptive: rows,columns of the mean; one number: a square",
          .numbers = {.max_count = 2,
                      .integer = true,
                      .odd = true,
                      .low = 1,
                      .high = largest_matrix_side}}},
    .one_channel = true,
    .details =
        "x > level * white, strictly; NaN is false; a logical image stays as it is.\n"
        "graythresh: the threshold is measured on each image (see graythresh) and never leaves the "
        "device.\n"
        "adaptive: x > (1.6 - sensitivity) * mean, of a dark foreground x > (0.4 + sensitivity) * "
        "mean, with\nthe mean over the window, replicate outside (Bradley and Roth, as MATLAB's "
        "adaptthresh). Its own\nwindow is 2 floor(size / 16) + 1.",
    .example = "imbinarize",
    .accuracy = "exact; adaptive but where x is the threshold to 1e-6",
    .not_finite = {NotFinite::Rule::other,
                   "NaN is not above a threshold: false; the measured threshold counts it as 0, "
                   "and Inf as white"},
    .matlab = "imbinarize(A,level) (same; adaptive needs window=)",
    .lower = lower_imbinarize,
}};

const RegisterOperator im2bw_operator{{
    .name = "im2bw",
    .help = "logical image of the pixels above a level (default: 0.5)",
    .parameters = {level("threshold on the unit scale; graythresh: Otsu's", {"graythresh"}, "0.5")},
    .one_channel = true,
    .details = binarize_details,
    .example = "im2bw 0.4",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::other,
                   "NaN is not above a threshold: false; the measured threshold counts it as 0, "
                   "and Inf as white"},
    .matlab = "im2bw(A,level) (same)",
    .lower = lower_binarize,
}};

}  // namespace
}  // namespace impipe::ops
