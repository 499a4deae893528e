// rollingball and imflatfield: what uneven light adds to an image, or multiplies it by.
#include <cmath>

#include "ops/filter/correlate.hpp"
#include "ops/filter/fspecial.hpp"
#include "ops/images.hpp"
#include "ops/statistics/finite.hpp"

IMPIPE_POINT_BODY(less_background, (x, background), (), { return x - background; })
IMPIPE_POINT_BODY(largest_of_colours, (r, g, b), (), { return max(r, max(g, b)); })
IMPIPE_POINT_BODY(flat_field, (x, shading), (mean, least),
                  { return x * (mean / (shading < least ? least : shading)); })

namespace impipe::ops {
namespace {

// How high the ball's surface lies above its lowest point.
struct Ball {
  Mask mask;
  std::vector<double> heights;
};

Ball ball_of(double radius, bool whole) {
  const int reach = static_cast<int>(std::ceil(radius));
  const int side = 2 * reach + 1;
  Ball out{{.width = side, .height = side, .origin_x = reach, .origin_y = reach, .cells = {}}, {}};
  for (int y = -reach; y <= reach; ++y) {
    for (int x = -reach; x <= reach; ++x) {
      const double rest = radius * radius - (x * x + y * y);
      out.mask.cells.push_back(rest >= 0 ? 1 : 0);
      if (rest < 0) continue;
      const double height = radius - std::sqrt(rest);
      out.heights.push_back(whole ? std::floor(height) : height);
    }
  }
  return out;
}

ImageValue lower_rollingball(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const Ball ball = ball_of(call.number("radius"), is_integer(image.type.cls));
  std::vector<Arg> args(ball.heights.begin(), ball.heights.end());
  args.emplace_back(unlimited);  // what is outside takes no part
  const ImageValue background =
      plan.stencil({.taps = ball.mask, .combine = Combine::smallest, .border = Border::constant},
                   image, args, like(image));
  if (call.word("out") == "background") return background;
  return plan.point(bodies::less_background, {image, background}, {}, like(image));
}

ImageValue lower_imflatfield(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  need_white(call, image);
  const double white = image.type.white, sigma = call.number("sigma");
  ImageValue light = image;
  if (image.type.channels == 3) {
    light = plan.point(Point{.body = &bodies::largest_of_colours, .mixes_channels = true}, {image},
                       {}, {.cls = image.type.cls, .white = white, .channels = 1});
  }
  const int side = 2 * static_cast<int>(std::ceil(2 * sigma)) + 1;
  const ImageValue shading = correlate(
      plan, light, gaussian_kernel(side, side, sigma),
      {.border = Border::symmetric, .result = {.cls = PixelClass::single, .white = white}});
  const MeasureValue means = finite_mean(plan, shading);
  const Arg mean = light.type.channels == 1 ? Arg::measured(means, 0) : Arg::per_channel(means, 0);
  Result result = like(image);
  result.channels = image.type.channels;
  return plan.point(bodies::flat_field, {image, shading}, {mean, 1e-6 * white}, result)
      .with_alpha(image.alpha);
}

const RegisterOperator rollingball_operator{{
    .name = "rollingball",
    .help = "background of an image, as a ball that rolls under its values leaves it",
    .parameters = {{.name = "radius",
                    .letter = 'r',
                    .help = "of the ball, in pixels, and in the image's own units",
                    .numbers = {.max_count = 1, .low = 0, .high = 255},
                    .required = true},
                   {.name = "out",
                    .help = "the background, or the image less the background",
                    .words = {"background", "subtracted"},
                    .fallback = "background"}},
    .classes = no_logical,
    .details =
        R"(The smallest of x(r+i, c+j) + radius - sqrt(radius^2 - i^2 - j^2) over the disc of the radius, pixels
outside the image left out (Sternberg, Biomedical image processing, 1983, as scikit-image has it): how
high the ball's top comes below the surface of the values. Integer classes are rounded down. For bright
objects on a dark background; of dark ones: imcomplement before and after. A pixel of the radius is a
unit of the values: of uint16 and of single in [0,1] scale the values first. An even slope s leaves
radius (sqrt(1 + s^2) - 1) everywhere, which an opening, as ImageJ's, does not.)",
    .example = "rollingball 30 subtracted",
    .accuracy = "exact for integer classes; single 1e-6 of the radius",
    .not_finite = {NotFinite::Rule::other,
                   "NaN has no part in the background, which is Inf where there is nothing else; "
                   "subtracted it stays NaN"},
    .matlab = "no such function; scikit-image: restoration.rolling_ball(A, radius=r) (same)",
    .lower = lower_rollingball,
}};

const RegisterOperator imflatfield_operator{{
    .name = "imflatfield",
    .help = "takes uneven light away: divides by the image's own blur",
    .parameters = {{.name = "sigma",
                    .letter = 's',
                    .help = "standard deviation of the gaussian, in pixels",
                    .numbers = {.max_count = 1, .low = 0.01, .high = 240},
                    .required = true}},
    .classes = no_logical,
    .details =
        R"(x mean(S) / S, where S is the image under a gaussian of side 2 ceil(2 sigma) + 1, mirrored outside (edge
included), and at least 1e-6 of white. Of a colour image S is that of the largest of r, g and b (the
value of HSV), the same for its three channels, so that hue and saturation stay. In float32; rounded and
saturated. A measured flat field and a dark frame are images of --with:
  imsubtract :dark class=single | imdivide :flat | mat2gray)",
    .example = "imflatfield 30",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-5 of white",
    .not_finite = {NotFinite::Rule::other,
                   "NaN makes NaN of every pixel whose gaussian reads it; the mean is that of the "
                   "finite values of S"},
    .matlab = "imflatfield(A,sigma) (same)",
    .lower = lower_imflatfield,
}};

}  // namespace
}  // namespace impipe::ops
