// deskewangle: by how much a scanned page has to be turned.
#include "core/page_operation.hpp"
#include "core/plan_builder.hpp"
#include "ops/images.hpp"
#include "ops/statistics/otsu.hpp"

IMPIPE_POINT_BODY(dark_ink, (x), (threshold), { return x <= threshold ? real(1) : real(0); })
IMPIPE_POINT_BODY(bright_ink, (x), (threshold), { return x > threshold ? real(1) : real(0); })

namespace impipe::ops {
namespace {

ImageValue ink_of(const Call& call, PlanBuilder& plan, const ImageValue& image) {
  const PointBody& ink = call.word("ink") == "bright" ? bodies::bright_ink : bodies::dark_ink;
  if (image.type.cls == PixelClass::logical) return plan.point(ink, {image}, {0.0}, logical_result);
  need_white(call, image);
  return plan.point(ink, {image}, {Arg::measured(otsu_threshold(plan, image), 1)}, logical_result);
}

ImageValue measure_angle(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const double range = call.number("range"), step = call.number("step");
  plan.report_objects("deskewangle", {.labels = ink_of(call, plan, image).id,
                                      .columns = {"deskewangle"},
                                      .rows = [=](const Plane& ink, const Plane*) {
                                        return std::vector{deskew_angle(ink, range, step) + 0.0};
                                      }});
  return image;
}

const RegisterOperator deskewangle_operator{{
    .name = "deskewangle",
    .help = "degrees by which imrotate levels the lines of a scanned page",
    .parameters = {{.name = "range",
                    .help = "the largest angle, in degrees",
                    .numbers = {.max_count = 1, .low = 0, .high = 90},
                    .fallback = "15"},
                   {.name = "step",
                    .help = "between two angles, in degrees",
                    .numbers = {.max_count = 1, .low = 0.001, .high = 90},
                    .fallback = "0.1"},
                   {.name = "ink",
                    .help = "whether ink is darker or brighter than paper",
                    .words = {"dark", "bright"},
                    .fallback = "dark"}},
    .one_channel = true,
    .table = true,
    .details =
        R"(Ink is what is not above Otsu's threshold (bright: what is above it); of a logical image the pixels that
are 0 (1). For each angle the ink is counted along lines one pixel apart; the angle is that at which the
squared differences of neighbouring lines have the largest sum (Leptonica's criterion, of rotated, not
sheared pixels), of equal ones the smallest. 0 where there is no ink. On pages below 200 pixels 0 is
favoured by up to half a degree; where light is uneven, `sauvola | deskewangle`.
One number, by which `deskewangle as a | imrotate a bilinear crop fill=255` turns the page, and so does
`deskew`; -o '{stem}.npy' saves it. The angles are searched on the host.)",
    .example = "deskewangle",
    .accuracy = "1e-9",
    .not_finite = {NotFinite::Rule::other, "NaN is no ink; for Otsu's threshold it is 0"},
    .matlab = "no such function; Leptonica: pixFindSkew",
    .lower = measure_angle,
}};

}  // namespace
}  // namespace impipe::ops
