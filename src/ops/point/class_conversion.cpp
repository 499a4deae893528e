// im2uint8, im2uint16, im2single, im2double: the class changes, what is white stays white.
#include "ops/images.hpp"

IMPIPE_POINT_BODY(im2int, (x), (scale), { return x * scale; })
IMPIPE_POINT_BODY(im2int_same_white, (x), (), { return x; })

namespace impipe::ops {
namespace {

ImageValue to_integer(PlanBuilder& plan, const ImageValue& image, PixelClass cls) {
  const double white = class_max(cls);
  if (image.type.cls == cls && image.type.white == white) return image;
  if (image.type.white == white) {
    return plan.point(bodies::im2int_same_white, {image}, {}, {.cls = cls, .white = white});
  }
  return plan.point(bodies::im2int, {image}, {white / image.type.white},
                    {.cls = cls, .white = white});
}

ImageValue lower_to_integer(const Call& call, PlanBuilder& plan, PixelClass cls) {
  need_white(call, plan.current());
  return to_integer(plan, plan.current(), cls);
}

ImageValue to_single(const Call& call, PlanBuilder& plan) {
  need_white(call, plan.current());
  return to_unit_single(plan, plan.current());
}

const RegisterOperator im2uint8_operator{{
    .name = "im2uint8",
    .help = "convert to uint8, white to 255",
    .details = "x / white * 255, rounded half away from zero, saturated, NaN is 0.\n"
               "From uint16: x / 257 rounded. From single the product is formed in float32.",
    .example = "im2uint8",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::propagated, "Inf saturates"},
    .matlab = "im2uint8(A) (same)",
    .lower = [](const Call& call,
                PlanBuilder& plan) { return lower_to_integer(call, plan, PixelClass::uint8); },
}};

const RegisterOperator im2uint16_operator{{
    .name = "im2uint16",
    .help = "convert to uint16, white to 65535",
    .details = "x / white * 65535, rounded half away from zero, saturated, NaN is 0.\n"
               "From uint8: x * 257. From single the product is formed in float32.",
    .example = "im2uint16",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::propagated, "Inf saturates"},
    .matlab = "im2uint16(A) (same)",
    .lower = [](const Call& call,
                PlanBuilder& plan) { return lower_to_integer(call, plan, PixelClass::uint16); },
}};

const RegisterOperator im2single_operator{{
    .name = "im2single",
    .help = "convert to single, white to 1",
    .details = "x / white in float32, correctly rounded.",
    .example = "im2single | conv2 k7",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::propagated},
    .matlab = "im2single(A) (same)",
    .lower = to_single,
}};

const RegisterOperator im2double_operator{{
    .name = "im2double",
    .help = "convert to single, white to 1 (the same as im2single)",
    .details =
        "x / white in float32, correctly rounded. There is no class double here; the name is\n"
        "kept for pipelines that come from MATLAB.",
    .example = "im2double | edge sobel",
    .accuracy = "6e-8 relative to the double result",
    .not_finite = {NotFinite::Rule::propagated},
    .matlab = "im2double(A) (there in double)",
    .lower = to_single,
}};

}  // namespace

ImageValue to_uint8(PlanBuilder& plan, const ImageValue& image) {
  return to_integer(plan, image, PixelClass::uint8);
}

}  // namespace impipe::ops
