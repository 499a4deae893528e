// imblend and imoverlay: an image or a colour over the current image.
#include "ops/colour/channels.hpp"
#include "ops/images.hpp"

IMPIPE_POINT_BODY(blended, (x, over_it), (alpha), { return x + alpha * (over_it - x); })
IMPIPE_POINT_BODY(blended_by_mask, (x, over_it, mask), (alpha, white),
                  { return x + alpha * over(mask, white) * (over_it - x); })
IMPIPE_POINT_BODY(painted, (x, mask), (colour, alpha),
                  { return mask != real(0) ? x + alpha * (colour - x) : x; })
IMPIPE_POINT_BODY(black_or_white, (x), (), { return x != real(0) ? real(255) : real(0); })

namespace impipe::ops {
namespace {

ImageValue lower_imblend(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  std::vector<ImageValue> images{image,
                                 point_operand(call, plan, call.value("over").operands.front())};
  std::vector<Arg> arguments{call.number("alpha")};
  const bool masked = call.has("mask");
  if (masked) {
    images.push_back(plan.operand(call, call.value("mask").operands.front()));
    need_white(call, images.back());
    arguments.emplace_back(images.back().type.white);
  }
  Result result = like(image);
  result.channels = max_channels(images);
  return plan.point(Point{.body = masked ? &bodies::blended_by_mask : &bodies::blended,
                          .in_double = is_integer(image.type.cls)},
                    images, arguments, result);
}

const Parameter opacity{.name = "alpha",
                        .help = "how much of what lies over the image is seen, from 0 to 1",
                        .max_numbers = 1,
                        .low = 0,
                        .high = 1,
                        .fallback = "0.5"};

const RegisterOperator imblend_operator{{
    .name = "imblend",
    .help = "another image over the current one",
    .category = "point",
    .parameters = {{.name = "over",
                    .help = "the image (:name) that lies over the current one",
                    .takes = Takes::operand,
                    .required = true},
                   opacity,
                   {.name = "mask",
                    .help =
                        "an image (:name) that says where: its white is all of alpha, 0 nothing",
                    .takes = Takes::operand}},
    .details =
        "x + w (over - x), w being alpha, or alpha times mask / white of the mask. Both images "
        "have\n"
        "one white; a gray one counts for each channel of the other, a gray mask for all. Integer\n"
        "classes in double, rounded half away from zero; single in float32. The class is the\n"
        "current image's.",
    .example = "as a | imgaussfilt 8 | imblend :a alpha=0.3",
    .accuracy = "exact for integer classes; single 1e-7 of white",
    .not_finite = {NotFinite::Rule::propagated},
    .matlab = "imfuse(A,B,'blend') is alpha=0.5 (there scaled)",
    .lower = lower_imblend,
}};

ImageValue lower_imoverlay(const Call& call, PlanBuilder& plan) {
  ImageValue image = plan.current();
  need_white(call, image);
  if (image.type.channels != 1) need_colour(call, image);
  if (image.type.cls == PixelClass::logical) {
    image =
        plan.point(bodies::black_or_white, {image}, {}, {.cls = PixelClass::uint8, .white = 255});
  }
  const ImageValue mask = gray_operand(call, plan, call.value("mask").operands.front());
  Result result = like(image);
  result.channels = 1;
  std::vector<ImageValue> channels;
  for (int c = 0; c < 3; ++c) {
    const ImageValue channel = image.type.channels == 1 ? image : picked_channel(plan, image, c);
    channels.push_back(plan.point(
        Point{.body = &bodies::painted, .in_double = is_integer(image.type.cls)}, {channel, mask},
        {call.number("color", c) * image.type.white, call.number("alpha")}, result));
  }
  return joined_channels(plan, channels);
}

Parameter full_opacity() {
  Parameter out = opacity;
  out.fallback = "1";
  return out;
}

const RegisterOperator imoverlay_operator{{
    .name = "imoverlay",
    .help = "paint where a mask is set",
    .category = "colour",
    .parameters = {{.name = "mask",
                    .help = "the mask (:name): where it is not 0",
                    .takes = Takes::operand,
                    .required = true},
                   {.name = "color",
                    .help = "red,green,blue, from 0 to 1",
                    .max_numbers = 3,
                    .min_numbers = 3,
                    .takes_row = true,
                    .low = 0,
                    .high = 1,
                    .fallback = "1,1,0"},
                   full_opacity()},
    .details =
        "x + alpha (color white - x) where the mask is not 0, else x; a gray image becomes a\n"
        "coloured one, a logical one a uint8 one. Integer classes in double, rounded half away\n"
        "from zero.",
    .example = "as m | imoverlay :m color=1,0,0",
    .accuracy = "exact for integer classes; single 1e-7 of white",
    .not_finite = {NotFinite::Rule::other,
                   "a mask is true where it is not 0, NaN too; colours by their formula, NaN is 0 "
                   "in integer classes"},
    .matlab = "imoverlay(A,BW,color) (same; there uint8)",
    .lower = lower_imoverlay,
}};

}  // namespace
}  // namespace impipe::ops
