// imsharpen: what a gaussian blur takes away is added to the image.
#include <cmath>

#include "ops/colour/channels.hpp"
#include "ops/colour/spaces.hpp"
#include "ops/filter/correlate.hpp"
#include "ops/filter/fspecial.hpp"
#include "ops/images.hpp"
#include "ops/statistics/finite.hpp"

IMPIPE_POINT_BODY(blurred_away, (x, blurred), (), { return x - blurred; })
IMPIPE_POINT_BODY(size_of_value, (x), (), { return abs(x); })
// Details up to the limit are left alone; NaN is none of these.
IMPIPE_POINT_BODY(sharpened, (x, detail), (amount, limit),
                  { return x + (abs(detail) <= limit ? real(0) : amount * detail); })
IMPIPE_POINT_BODY(times_white, (x), (white), { return x * white; })
IMPIPE_SCALAR_BODY(part_of_largest, { out[0] = args[0] * in[0]; })

namespace impipe::ops {
namespace {

// One channel, in its own units.
ImageValue sharpened(const Call& call, PlanBuilder& plan, const ImageValue& x, Result result) {
  const double sigma = call.number("radius"), threshold = call.number("threshold");
  const int side = 2 * static_cast<int>(std::ceil(2 * sigma)) + 1;
  const ImageValue blurred =
      correlate_colours(plan, x, gaussian_kernel(side, side, sigma),
                        {.border = Border::replicate, .result = single_result});
  const ImageValue detail = plan.point(bodies::blurred_away, {x, blurred}, {}, single_result);
  Arg limit = 0.0;
  if (threshold > 0) {
    const ImageValue sizes = plan.point(bodies::size_of_value, {detail}, {}, single_result);
    const MeasureValue largest = finite_range(plan, sizes).high;
    limit = Arg::measured(plan.scalar(bodies::part_of_largest, {largest}, {threshold}, 1, 1), 0);
  }
  return plan.point(Point{.body = &bodies::sharpened, .in_double = is_integer(result.cls)},
                    {x, detail}, {call.number("amount"), limit}, result);
}

ImageValue lower_imsharpen(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  need_white(call, image);
  if (image.type.channels == 1) return sharpened(call, plan, image, like(image));
  const ImageValue lab = to_lab(plan, image);
  const ImageValue sharp =
      joined_channels(plan, {sharpened(call, plan, picked_channel(plan, lab, 0), single_result),
                             picked_channel(plan, lab, 1), picked_channel(plan, lab, 2)});
  return plan.point(bodies::times_white, {from_lab(plan, sharp)}, {image.type.white}, like(image));
}

const RegisterOperator imsharpen_operator{{
    .name = "imsharpen",
    .help = "unsharp masking; colour is sharpened in its lightness",
    .parameters = {{.name = "radius",
                    .letter = 'r',
                    .help = "standard deviation of the gaussian, in pixels",
                    .numbers = {.max_count = 1, .low = 0.01, .high = 60},
                    .fallback = "1"},
                   {.name = "amount",
                    .letter = 'a',
                    .help = "how much of what the blur took away is added",
                    .numbers = {.max_count = 1, .low = 0, .high = 100},
                    .fallback = "0.8"},
                   {.name = "threshold",
                    .help = "part of the largest detail up to which details are left alone",
                    .numbers = {.max_count = 1, .low = 0, .high = 1},
                    .fallback = "0"}},
    .classes = no_logical,
    .details = "g = x - gaussian of side 2 ceil(2 radius) + 1, replicate outside; g = 0 where\n"
               "|g| <= threshold max|g|, the largest that is finite; x + amount g, rounded and "
               "saturated. Colour:\n"
               "the L of L*a*b* (see rgb2lab), and back.",
    .example = "imsharpen amount=1.5",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-5 of white",
    .not_finite = {NotFinite::Rule::spread,
                   "the largest detail of a threshold is of the finite ones"},
    .matlab = "imsharpen(A,\"Radius\",r,\"Amount\",a,\"Threshold\",t) (same)",
    .lower = lower_imsharpen,
}};

}  // namespace
}  // namespace impipe::ops
