// rgb2gray: the luminance of a colour image.
#include "ops/images.hpp"

// On the unit scale, as the definition is.
IMPIPE_POINT_BODY(rgb2gray, (r, g, b), (white), {
  return (real(0.298936) * over(r, white) + real(0.587043) * over(g, white) +
          real(0.114021) * over(b, white)) *
         white;
})

namespace impipe::ops {
namespace {

ImageValue lower_rgb2gray(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  if (image.type.channels == 1) return image;
  need_colour(call, image);
  need_white(call, image);
  return plan.point(Point{.body = &bodies::rgb2gray, .mixes_channels = true}, {image},
                    {image.type.white},
                    {.cls = image.type.cls, .white = image.type.white, .channels = 1});
}

const RegisterOperator rgb2gray_operator{{
    .name = "rgb2gray",
    .help = "luminance; a gray image passes through",
    .details = "0.298936 R + 0.587043 G + 0.114021 B. Integer classes: in double on the unit\n"
               "scale, then rounded; single: in float32, not clamped.\n"
               "Operators defined on one channel (edge, imbinarize, graythresh ...) apply it to\n"
               "colour images themselves.",
    .example = "rgb2gray",
    .accuracy = "exact for integer classes, 2e-7 of white for single",
    .not_finite = nan_mixed,
    .matlab = "rgb2gray(A) (weights with more digits: 8-bit results differ at near ties only)",
    .lower = lower_rgb2gray,
}};

const RegisterOperator im2gray_operator{{
    .name = "im2gray",
    .help = "luminance; a gray image passes through: rgb2gray by MATLAB's newer name",
    .details = "rgb2gray.",
    .example = "im2gray",
    .accuracy = "exact for integer classes, 2e-7 of white for single",
    .not_finite = nan_mixed,
    .matlab = "im2gray(A) (as rgb2gray)",
    .lower = lower_rgb2gray,
}};

}  // namespace
}  // namespace impipe::ops
