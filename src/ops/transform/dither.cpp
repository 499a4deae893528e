// dither: black and white whose local mean is the image's.
#include "ops/images.hpp"

// The error of what is not finite would spread over all that follows.
IMPIPE_POINT_BODY(finite_gray, (x), (white), {
  const real beyond = x > real(0) ? white : real(0);
  return x - x == real(0) ? x : beyond;
})

namespace impipe::ops {
namespace {

const RegisterOperator dither_operator{{
    .name = "dither",
    .help = "black and white by error diffusion, with the image's local mean",
    .parameters = {{.name = "method",
                    .help = "how errors spread",
                    .words = {"floyd-steinberg"},
                    .fallback = "floyd-steinberg"}},
    .one_channel = true,
    .details =
        "w = x / white in double; every row from left to right: out = w >= 0.5, e = w - out, and\n"
        "7/16 of e go to the right, 3/16 below left, 5/16 below, 1/16 below right; errors that "
        "leave\n"
        "the image are dropped, w is never clipped. The result is logical, the same bits on every\n"
        "device and with any number of threads.",
    .example = "imadjust | dither",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::zero, "Inf as white, -Inf as 0"},
    .matlab = "dither(I) (there errors are kept in 8 bits: other pixels, the same local mean)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          ImageValue image = plan.current();
          need_white(call, image);
          plan.drop_alpha();
          const double white = image.type.white;
          if (!is_integer(image.type.cls)) {
            image = plan.point(bodies::finite_gray, {image}, {white}, like(image));
          }
          return plan.whole(Diffuse{}, {image}, {white}, logical_result);
        },
}};

}  // namespace
}  // namespace impipe::ops
