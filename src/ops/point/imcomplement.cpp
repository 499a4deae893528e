// imcomplement: the negative of an image.
#include "ops/images.hpp"

IMPIPE_POINT_BODY(imcomplement, (x), (white), { return white - x; })

namespace impipe::ops {
namespace {

const RegisterOperator imcomplement_operator{{
    .name = "imcomplement",
    .help = "the negative: white minus the value",
    .details = "white - x in the image's class. logical: true and false change places.\n"
               "single is not clamped: values above white become negative.",
    .example = "imcomplement",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::propagated},
    .matlab = "imcomplement(A) (same; there is no int16 here)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const ImageValue image = plan.current();
          need_white(call, image);
          return plan.point(bodies::imcomplement, {image}, {image.type.white}, like(image));
        },
}};

}  // namespace
}  // namespace impipe::ops
