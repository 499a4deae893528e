// imhmax, imhmin, imextendedmax, imextendedmin, imimposemin and imclearborder: what a
// reconstruction leaves of heights.
#include <string>

#include "core/expression.hpp"
#include "ops/images.hpp"
#include "ops/morphology/connectivity.hpp"
#include "ops/morphology/reconstructed.hpp"
#include "ops/statistics/finite.hpp"

// Turned upside down about 0 (single) or about the largest code.
IMPIPE_POINT_BODY(upside_down, (x), (top), { return top - x; })
IMPIPE_POINT_BODY(lowered, (x), (h), { return x - h; })
IMPIPE_POINT_BODY(raised, (x), (h), { return x + h; })
IMPIPE_POINT_BODY(less_of, (x, y), (), { return x - y; })
IMPIPE_POINT_BODY(without, (x, y), (), { return x > y ? real(1) : real(0); })

// The marker and the mask of imimposemin.
IMPIPE_POINT_BODY(imposed_marker, (marker), (lowest, highest),
                  { return marker != real(0) ? lowest : highest; })
IMPIPE_POINT_BODY(imposed_mask, (x, marker), (step, lowest, highest), {
  const real up = x + step;
  const real most = marker != real(0) ? lowest : highest;
  return up < most ? up : most;
})
// in: the smallest and the largest value.
IMPIPE_SCALAR_BODY(imposed_step, { out[0] = in[1] > in[0] ? (in[1] - in[0]) / 1000 : 0.1; })

namespace impipe::ops {

ImageValue reconstructed(PlanBuilder& plan, const ImageValue& marker, const ImageValue& mask,
                         int connectivity) {
  return plan.whole(Label{Label::Kind::reconstruct, connectivity}, {marker, mask}, {},
                    like(marker));
}

ImageValue reconstructed_from_above(PlanBuilder& plan, const ImageValue& marker,
                                    const ImageValue& mask, int connectivity) {
  const PixelClass cls = marker.type.cls;
  const double top = is_integer(cls) ? class_max(cls) : 0;
  const auto turned = [&](const ImageValue& x) {
    return plan.point(bodies::upside_down, {x}, {top}, like(x));
  };
  return turned(reconstructed(plan, turned(marker), turned(mask), connectivity));
}

namespace {

// A - h under A, or A + h above it.
ImageValue without_small(PlanBuilder& plan, const ImageValue& image, bool maxima, double h,
                         int conn) {
  const ImageValue moved =
      plan.point(maxima ? bodies::lowered : bodies::raised, {image}, {h}, like(image));
  return maxima ? reconstructed(plan, moved, image, conn)
                : reconstructed_from_above(plan, moved, image, conn);
}

ImageValue lower_h(const Call& call, PlanBuilder& plan, bool maxima) {
  plan.drop_alpha();
  return without_small(plan, plan.current(), maxima, call.number("h"), connectivity(call));
}

ImageValue lower_extended(const Call& call, PlanBuilder& plan, bool maxima) {
  plan.drop_alpha();
  const int conn = connectivity(call);
  const ImageValue flat = without_small(plan, plan.current(), maxima, call.number("h"), conn);
  const Label::Kind kind = maxima ? Label::Kind::maxima : Label::Kind::minima;
  return plan.whole(Label{kind, conn}, {flat}, {}, logical_result);
}

Parameter height() {
  return {.name = "h",
          .letter = 'h',
          .help = "height, in the image's own units",
          .numbers = {.max_count = 1, .low = 0, .high = 1e30},
          .required = true};
}

const RegisterOperator imhmax_operator{{
    .name = "imhmax",
    .help = "takes maxima down by h, so that those less high than h vanish",
    .parameters = {height(), connectivity_parameter("8")},
    .classes = no_logical,
    .one_channel = true,
    .details = "The reconstruction of A - h (rounded and saturated in the class) under A.",
    .example = "imhmax 40",
    .accuracy = "exact; single 1e-6",
    .not_finite = nan_smallest,
    .matlab = "imhmax(A,h,conn) (same)",
    .lower = [](const Call& call, PlanBuilder& plan) { return lower_h(call, plan, true); },
}};

const RegisterOperator imhmin_operator{{
    .name = "imhmin",
    .help = "brings minima up by h, so that those less deep than h vanish",
    .parameters = {height(), connectivity_parameter("8")},
    .classes = no_logical,
    .one_channel = true,
    .details = "The reconstruction by erosion of A + h (rounded and saturated) above A.",
    .example = "imhmin 40",
    .accuracy = "exact; single 1e-6",
    .not_finite = nan_smallest,
    .matlab = "imhmin(A,h,conn) (same)",
    .lower = [](const Call& call, PlanBuilder& plan) { return lower_h(call, plan, false); },
}};

const RegisterOperator imextendedmax_operator{{
    .name = "imextendedmax",
    .help = "regional maxima that are higher than h",
    .parameters = {height(), connectivity_parameter("8")},
    .classes = no_logical,
    .one_channel = true,
    .details = "The regional maxima of imhmax.",
    .example = "imextendedmax 60",
    .accuracy = "exact; single: pixels where A - h rounds",
    .not_finite = nan_smallest,
    .matlab = "imextendedmax(A,h,conn) (same)",
    .lower = [](const Call& call, PlanBuilder& plan) { return lower_extended(call, plan, true); },
}};

const RegisterOperator imextendedmin_operator{{
    .name = "imextendedmin",
    .help = "regional minima that are deeper than h",
    .parameters = {height(), connectivity_parameter("8")},
    .classes = no_logical,
    .one_channel = true,
    .details = "The regional minima of imhmin.",
    .example = "imextendedmin 60",
    .accuracy = "exact; single: pixels where A + h rounds",
    .not_finite = nan_smallest,
    .matlab = "imextendedmin(A,h,conn) (same)",
    .lower = [](const Call& call, PlanBuilder& plan) { return lower_extended(call, plan, false); },
}};

ImageValue lower_imimposemin(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  const ImageValue image = plan.current();
  const std::string& name = call.value("marker").operands.front();
  const ImageValue marker = plan.operand(call, name);
  if (marker.type.channels != 1) call.fail("marker", "the marker :" + name + " must be gray");
  const bool single = image.type.cls == PixelClass::single;
  const double lowest = single ? -unlimited : 0,
               highest = single ? unlimited : class_max(image.type.cls);
  Arg step = 1.0;
  if (single) {
    const auto [low, high] = finite_range(plan, image);
    step = Arg::measured(plan.scalar(bodies::imposed_step, {low, high}, {}, 1, 1), 0);
  }
  const ImageValue from =
      plan.point(bodies::imposed_marker, {marker}, {lowest, highest}, like(image));
  const ImageValue above =
      plan.point(bodies::imposed_mask, {image, marker}, {step, lowest, highest}, like(image));
  return reconstructed_from_above(plan, from, above, connectivity(call));
}

const RegisterOperator imimposemin_operator{{
    .name = "imimposemin",
    .help = "leaves regional minima only where a marker is not 0",
    .parameters = {{.name = "marker",
                    .help = "the image (:name) that says where, gray and of equal size",
                    .takes = Takes::operand,
                    .required = true},
                   connectivity_parameter("8")},
    .classes = no_logical,
    .one_channel = true,
    .details =
        "fm = the lowest value (single: -Inf) where the marker is not 0, the highest elsewhere;\n"
        "the reconstruction by erosion of fm above min(A + d, fm), d = 1, of single a thousandth\n"
        "of its range (0.1 when that is 0).",
    .example =
        "rgb2gray | as g | imextendedmin 60 | as m | im2uint8 | imlincomb 0 1 :g | imimposemin :m",
    .accuracy = "exact; single 1e-6",
    .not_finite = nan_smallest,
    .matlab = "imimposemin(A,BW,conn) (same)",
    .lower = lower_imimposemin,
}};

// The image on its border, the lowest value inside.
ImageValue border_of(PlanBuilder& plan, const ImageValue& image) {
  const bool single = image.type.cls == PixelClass::single;
  const std::string lowest = single ? "-1/0" : "0";
  const std::vector<std::string> names{"x", "col", "row", "width", "height"};
  const Expression expression =
      parse_expression(
          "col == 0 || row == 0 || col == width - 1 || row == height - 1 ? x : " + lowest,
          {.known = names})
          .with_variables(names);
  return plan.point(Point{.expression = std::make_shared<const Expression>(expression)}, {image},
                    {}, like(image));
}

const RegisterOperator imclearborder_operator{{
    .name = "imclearborder",
    .help = "removes what is connected with the image's border",
    .parameters = {connectivity_parameter("8")},
    .one_channel = true,
    .details =
        "A - R (logical: A and not R), R the reconstruction under A of a marker that is A in the\n"
        "first and last row and column and the lowest value inside.",
    .example = "imbinarize | imclearborder",
    .accuracy = "exact",
    .not_finite = nan_smallest,
    .matlab = "imclearborder(A,conn) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          plan.drop_alpha();
          const ImageValue image = plan.current();
          const ImageValue reached =
              reconstructed(plan, border_of(plan, image), image, connectivity(call));
          const bool logical = image.type.cls == PixelClass::logical;
          return plan.point(logical ? bodies::without : bodies::less_of, {image, reached}, {},
                            like(image));
        },
}};

}  // namespace
}  // namespace impipe::ops
