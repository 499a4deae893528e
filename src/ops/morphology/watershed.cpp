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
  const auto has_nan = [&](ImageValue of) {
    const ImageValue nans = plan.point(bodies::is_no_number, {of}, {}, logical_result);
    return plan.reduce({.kind = ReduceKind::max}, nans, {});
  };
  if (image.type.cls == PixelClass::single) {
    plan.refuse_where(has_nan(image), "watershed: the image has NaN");
  }
  const ImageValue minima =
      plan.whole(Label{Label::Kind::minima, conn}, {image}, {}, logical_result);
  const ImageValue basins =
      plan.whole(Label{Label::Kind::components, conn}, {minima}, {}, single_result);
  const ImageValue flooded =
      plan.whole(Label{Label::Kind::flood, conn}, {image, basins}, {}, single_result);
  // A device that many heights of few pixels each would keep too long leaves NaN (Label).
  plan.leave_to_cpu_where(has_nan(flooded), "watershed: few pixels of each height");
  return flooded;
}

const RegisterOperator watershed_operator{{
    .name = "watershed",
    .help = "labels of the basins of a relief, 0 on the lines between them",
    .parameters = {connectivity_parameter("8")},
    .one_channel = true,
    .details =
        "Meyer's flooding from the regional minima, which are numbered as bwlabel does. Pixels\n"
        "beside a labelled one wait in a queue in the order of their values, equal ones in that "
        "in\n"
        "which they came; neighbours are taken down the columns. A pixel whose labelled "
        "neighbours\n"
        "have one label gets it, others stay 0. NVIDIA's GPUs take pixels of one height together;\n"
        "images of many heights with few pixels each (noise, smooth floats) are made on the CPU, "
        "as\n"
        "are those of more than 65,536 pixels where other devices would. The result is single and\n"
        "has no white. NaN is an error.",
    .example = "imgradient | imhmin 20 | watershed | label2rgb",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::other, "NaN is an error; Inf is a height like others"},
    .matlab = "watershed(A,conn) (other pixels of equal distance may be lines)",
    .lower = lower_watershed,
}};

}  // namespace
}  // namespace impipe::ops
