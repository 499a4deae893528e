// imrotate: the image turned about its centre.
#include <cmath>
#include <numbers>

#include "ops/geometry/resample.hpp"
#include "ops/images.hpp"

namespace impipe::ops {
namespace {

// The angle in [0, 360).
double turned(double degrees) { return degrees - 360 * std::floor(degrees / 360); }

// 0 and 1 without rounding errors where they are.
double sine_of(double degrees) {
  if (std::fmod(degrees, 180) == 0) return 0;
  if (std::fmod(degrees, 90) == 0) return degrees == 90 ? 1 : -1;
  return std::sin(degrees * std::numbers::pi / 180);
}
double cosine_of(double degrees) {
  if (std::fmod(degrees, 180) == 0) return degrees == 0 ? 1 : -1;
  if (std::fmod(degrees, 90) == 0) return 0;
  return std::cos(degrees * std::numbers::pi / 180);
}

ImageValue lower_imrotate(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const double degrees = turned(call.number("angle"));
  const bool crop = call.word("bbox") == "crop";
  const double quarters = degrees / 90;
  if (degrees == 0) return image;
  if (quarters == std::floor(quarters) && (!crop || quarters == 2)) {
    return plan.permute(
        {.transpose = quarters != 2, .flip_x = quarters != 1, .flip_y = quarters != 3}, image);
  }
  const double cosine = cosine_of(degrees), sine = sine_of(degrees);
  const Resample how{.kind = Resample::Kind::affine,
                     .method = method_named(call.word("method")),
                     .antialias = false,
                     .beside = Resample::Beside::on_image,
                     .view = crop ? Resample::View::given : Resample::View::turned};
  // Counter-clockwise as one looks at it: y goes down.
  std::vector<Arg> arguments;
  for (const double v : {0.0, 0.0, cosine, -sine, 0.0, sine, cosine, 0.0, 1.0}) {
    arguments.emplace_back(v);
  }
  arguments.emplace_back(cast_to(image.type.cls, call.number("fill")));
  return resampled(plan, how, image, arguments);
}

const RegisterOperator imrotate_operator{{
    .name = "imrotate",
    .help = "turn the image about its centre",
    .parameters = {{.name = "angle",
                    .help = "degrees, counter-clockwise",
                    .numbers = {.max_count = 1, .low = -1e6, .high = 1e6},
                    .required = true},
                   {.name = "method",
                    .help = "between pixels: nearest, bilinear or bicubic (Keys' kernel, a = -0.5)",
                    .words = {"nearest", "bilinear", "bicubic"},
                    .fallback = "nearest"},
                   {.name = "bbox",
                    .help = "loose: the size that holds all of it; crop: the image's",
                    .words = {"loose", "crop"},
                    .fallback = "loose"},
                   {.name = "fill",
                    .help = "the value beside the image, in its own units",
                    .numbers = {.max_count = 1},
                    .fallback = "0"}},
    .details =
        "loose: round((W-1)|cos| + (H-1)|sin|) + 1 columns, rows alike. Places in double; those\n"
        "beside the centres of the outer pixels are `fill` (bicubic: half a pixel beyond them).\n"
        "nearest: halves go to the right and down. bilinear and bicubic in float32, pixels "
        "mirrored\n"
        "at the ends; rounded and saturated (logical: at least 0.5). Quarter turns move pixels "
        "only\n"
        "(crop: half turns, and squares by their numbers). Alpha is turned too, 0 beside\n"
        "it; what it hides has no part in colours.",
    .example = "imrotate 30 bilinear crop fill=255",
    .accuracy = "nearest exact; integer classes: 1 at rounding ties; single 1e-6 of white",
    .not_finite = {NotFinite::Rule::spread, "nearest moves values"},
    .matlab = "imrotate(A,angle,method,bbox) of Octave (MATLAB's loose may be a pixel larger)",
    .lower = lower_imrotate,
}};

}  // namespace
}  // namespace impipe::ops
