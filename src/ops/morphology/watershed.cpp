// watershed: the basins of a relief and the lines between them.
#include "ops/images.hpp"
#include "ops/morphology/connectivity.hpp"

IMPIPE_POINT_BODY(is_no_number, (x), (), { return x == x ? real(0) : real(1); })

namespace impipe::ops {
namespace {

ImageValue lower_watershed(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  const ImageValue image = plan.current();
  const int conn = connectivity(call);
  constexpr Result labels{.cls = PixelClass::single, .white = 0};
  if (image.type.cls == PixelClass::single) {
    const ImageValue nans = plan.point(bodies::is_no_number, {image}, {}, logical_result);
    plan.refuse_where(plan.reduce({.kind = ReduceKind::max}, nans, {}),
                      "watershed: the image has NaN");
  }
  const ImageValue minima =
      plan.whole(Label{Label::Kind::minima, conn}, {image}, {}, logical_result);
  const ImageValue basins = plan.whole(Label{Label::Kind::components, conn}, {minima}, {}, labels);
  return plan.whole(Flood{conn}, {image, basins}, {}, labels);
}

const RegisterOperator watershed_operator{{
    .name = "watershed",
    .help = "labels of the basins of a relief, 0 on the lines between them",
    .category = "morphology",
    .parameters = {connectivity_parameter("8")},
    .one_channel = true,
    .details =
        "Meyer's flooding from the regional minima, which are numbered as bwlabel does. Pixels\n"
        "beside a labelled one wait in a queue in the order of their values, equal ones in that "
        "in\n"
        "which they came; neighbours are taken down the columns. A pixel whose labelled "
        "neighbours\n"
        "have one label gets it, others stay 0. Since each pixel depends on those before it, one\n"
        "work-item floods small images; larger ones are made on the CPU. The result is single and\n"
        "has no white. NaN is an error.",
    .example = "imgradient | imhmin 20 | watershed | label2rgb",
    .accuracy = "exact",
    .matlab = "watershed(A,conn) (other pixels of equal distance may be lines)",
    .lower = lower_watershed,
}};

}  // namespace
}  // namespace impipe::ops
