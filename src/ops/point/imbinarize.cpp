// imbinarize and im2bw: which pixels are above a level.
#include <cmath>

#include "ops/images.hpp"
#include "ops/statistics/otsu.hpp"

// NaN is not above anything.
IMPIPE_POINT_BODY(above, (x), (threshold), { return x > threshold ? real(1) : real(0); })

namespace impipe::ops {
namespace {

ImageValue lower_binarize(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  plan.drop_alpha();
  if (image.type.cls == PixelClass::logical) return image;
  need_white(call, image);
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

Parameter level(std::string_view fallback) {
  return {.name = "level",
          .letter = 't',
          .help = "threshold on the unit scale; graythresh: Otsu's",
          .max_numbers = 1,
          .low = 0,
          .high = 1,
          .words = {"graythresh"},
          .fallback = fallback};
}

constexpr std::string_view details =
    "x > level * white, strictly; NaN is false; a logical image stays as it is.\n"
    "graythresh: the threshold is measured on each image (see graythresh) and never leaves the "
    "device.";

const RegisterOperator imbinarize_operator{{
    .name = "imbinarize",
    .help = "logical image of the pixels above a level (default: Otsu's)",
    .category = "point",
    .parameters = {level("graythresh")},
    .one_channel = true,
    .details = details,
    .example = "imbinarize",
    .accuracy = "exact",
    .matlab = "imbinarize(A,level) (same)",
    .lower = lower_binarize,
}};

const RegisterOperator im2bw_operator{{
    .name = "im2bw",
    .help = "logical image of the pixels above a level (default: 0.5)",
    .category = "point",
    .parameters = {level("0.5")},
    .one_channel = true,
    .details = details,
    .example = "im2bw 0.4",
    .accuracy = "exact",
    .matlab = "im2bw(A,level) (same)",
    .lower = lower_binarize,
}};

}  // namespace
}  // namespace impipe::ops
