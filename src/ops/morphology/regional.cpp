// imregionalmax and imregionalmin: pixels or plateaus that stand out from all their neighbours.
#include "ops/images.hpp"
#include "ops/morphology/connectivity.hpp"

IMPIPE_POINT_BODY(regional_complement, (x), (), { return real(1) - x; })
// The largest of the neighbours; an image of one pixel has none.
IMPIPE_POINT_BODY(regional_above, (x, around), (pixels),
                  { return x > around || pixels == real(1) ? real(1) : real(0); })
IMPIPE_POINT_BODY(regional_below, (x, around), (pixels),
                  { return x < around || pixels == real(1) ? real(1) : real(0); })

namespace impipe::ops {
namespace {

ImageValue regional(const Call& call, PlanBuilder& plan, bool largest) {
  plan.drop_alpha();
  const ImageValue image = plan.current();
  const int conn = connectivity(call);
  if (call.word("rule") == "strict") {
    const std::vector<std::uint8_t> corner =
        conn == 8 ? std::vector<std::uint8_t>{1, 1, 1, 1, 0, 1, 1, 1, 1}
                  : std::vector<std::uint8_t>{0, 1, 0, 1, 0, 1, 0, 1, 0};
    const Mask around{.width = 3, .height = 3, .origin_x = 1, .origin_y = 1, .cells = corner};
    const ImageValue most = plan.extremum({.largest = largest, .mask = around}, image);
    return plan.point(largest ? bodies::regional_above : bodies::regional_below, {image, most},
                      {pixels_argument}, logical_result);
  }
  if (image.type.cls == PixelClass::logical) {
    return largest ? image : plan.point(bodies::regional_complement, {image}, {}, logical_result);
  }
  const Label label{largest ? Label::Kind::maxima : Label::Kind::minima, conn};
  return plan.whole(label, {image}, {}, logical_result);
}

const Parameter rule{.name = "rule",
                     .help = "plateaus, or strict: single pixels only",
                     .words = {"plateaus", "strict"},
                     .fallback = "plateaus"};

constexpr std::string_view regional_details =
    "Connected pixels of equal value whose neighbours outside are all smaller (larger); a\n"
    "constant image is one such set. The image's outside has no part in it. strict: only pixels\n"
    "that exceed each neighbour. A logical image is its own maxima; its minima are its complement.";

const RegisterOperator imregionalmax_operator{{
    .name = "imregionalmax",
    .help = "regional maxima: plateaus with lower neighbours only",
    .parameters = {connectivity_parameter("8"), rule},
    .one_channel = true,
    .details = regional_details,
    .example = "imgaussfilt 2 | imregionalmax",
    .accuracy = "exact",
    .not_finite = nan_smallest,
    .matlab = "imregionalmax(A,conn) (same)",
    .lower = [](const Call& call, PlanBuilder& plan) { return regional(call, plan, true); },
}};

const RegisterOperator imregionalmin_operator{{
    .name = "imregionalmin",
    .help = "regional minima: plateaus with higher neighbours only",
    .parameters = {connectivity_parameter("8"), rule},
    .one_channel = true,
    .details = regional_details,
    .example = "imgaussfilt 2 | imregionalmin 4",
    .accuracy = "exact",
    .not_finite = nan_smallest,
    .matlab = "imregionalmin(A,conn) (same)",
    .lower = [](const Call& call, PlanBuilder& plan) { return regional(call, plan, false); },
}};

}  // namespace
}  // namespace impipe::ops
