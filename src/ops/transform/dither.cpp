// dither: black and white whose local mean is the image's.
#include "ops/images.hpp"

namespace impipe::ops {
namespace {

const RegisterOperator dither_operator{{
    .name = "dither",
    .help = "black and white by error diffusion, with the image's local mean",
    .category = "transform",
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
    .matlab = "dither(I) (there errors are kept in 8 bits: other pixels, the same local mean)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const ImageValue image = plan.current();
          need_white(call, image);
          plan.drop_alpha();
          return plan.whole(Diffuse{}, {image}, {image.type.white}, logical_result);
        },
}};

}  // namespace
}  // namespace impipe::ops
