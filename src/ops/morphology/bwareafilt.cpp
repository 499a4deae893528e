// bwareafilt: the largest or smallest objects, or those of some sizes.
#include <cmath>

#include "ops/images.hpp"
#include "ops/morphology/connectivity.hpp"
#include "ops/morphology/reconstructed.hpp"

IMPIPE_POINT_BODY(pixel_of_object, (x), (), { return x != real(0) ? real(1) : real(0); })
// The sizes of objects so that those looked for are the smallest; what is none comes last.
IMPIPE_POINT_BODY(size_in_order, (area), (sign),
                  { return area != real(0) ? sign * area : real(3e38); })
// Of objects as large as the last that is kept: their labels.
IMPIPE_POINT_BODY(label_of_size, (size, label), (last),
                  { return size == last ? label : real(3e38); })
IMPIPE_POINT_BODY(is_below, (size), (last), { return size < last ? real(1) : real(0); })
IMPIPE_POINT_BODY(is_kept, (area, size, label), (last, last_label), {
  const bool kept = size < last || (size == last && label <= last_label);
  return area != real(0) && kept ? real(1) : real(0);
})
IMPIPE_POINT_BODY(is_between, (least, more), (),
                  { return least != real(0) && more == real(0) ? real(1) : real(0); })

// How many of the last size stay, as a place from 0: args: how many stay in all.
IMPIPE_SCALAR_BODY(place_of_last, { out[0] = args[0] - in[0] - 1; })

namespace impipe::ops {
namespace {

ImageValue lower_bwareafilt(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  const int conn = connectivity(call);
  ImageValue object = plan.current();
  if (object.type.cls != PixelClass::logical) {
    object = plan.point(bodies::pixel_of_object, {object}, {}, logical_result);
  }
  if (call.has("range") == call.has("n")) call.fail("it needs either n=N or range=least,most");
  const auto of_at_least = [&](double pixels) {
    return plan.whole(Label{Label::Kind::large, conn}, {object}, {pixels}, logical_result);
  };
  if (call.has("range")) {
    const double least = std::ceil(call.number("range", 0)), most = call.number("range", 1);
    if (std::isinf(most)) return of_at_least(least);
    return plan.point(bodies::is_between, {of_at_least(least), of_at_least(std::floor(most) + 1)},
                      {}, logical_result);
  }
  const double n = call.number("n");
  const double sign = call.word("keep") == "largest" ? -1 : 1;
  const ImageValue areas =
      plan.whole(Label{Label::Kind::first_areas, conn}, {object}, {}, single_result);
  const ImageValue labels =
      plan.whole(Label{Label::Kind::components, conn}, {object}, {}, single_result);
  const ImageValue sizes = plan.point(bodies::size_in_order, {areas}, {sign}, single_result);
  const MeasureValue last = plan.select(sizes, {n - 1});
  const ImageValue before =
      plan.point(bodies::is_below, {sizes}, {Arg::measured(last, 0)}, logical_result);
  const MeasureValue place = plan.scalar(
      bodies::place_of_last, {plan.reduce({.kind = ReduceKind::sum}, before, {})}, {n}, 1, 1);
  const ImageValue equal =
      plan.point(bodies::label_of_size, {sizes, labels}, {Arg::measured(last, 0)}, single_result);
  const MeasureValue last_label = plan.select(equal, {Arg::measured(place, 0)});
  const ImageValue firsts =
      plan.point(bodies::is_kept, {areas, sizes, labels},
                 {Arg::measured(last, 0), Arg::measured(last_label, 0)}, logical_result);
  return reconstructed(plan, firsts, object, conn);
}

const RegisterOperator bwareafilt_operator{{
    .name = "bwareafilt",
    .help = "keeps the largest or smallest objects, or those of some sizes",
    .parameters =
        {{.name = "n",
          .letter = 'n',
          .help = "how many objects stay",
          .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 1e6}},
         {.name = "keep",
          .help = "which ones",
          .words = {"largest", "smallest"},
          .fallback = "largest"},
         connectivity_parameter("8"),
         {.name = "range",
          .help = "instead of n: least,most pixels of those that stay; most may be inf",
          .numbers = {.max_count = 2, .min_count = 2, .or_inf = true, .low = 0, .high = 1e12},
          .takes_row = true}},
    .one_channel = true,
    .details =
        "Objects are the connected components of the pixels that are not 0. Of equal sizes\n"
        "the lower label (bwlabel's) comes first. Fewer objects than n: all stay. The result\n"
        "is logical.",
    .example = "imbinarize | bwareafilt 1",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "bwareafilt(BW,n,keep), bwareafilt(BW,range) (same)",
    .lower = lower_bwareafilt,
}};

}  // namespace
}  // namespace impipe::ops
