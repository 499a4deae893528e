// rgb2hsv and hsv2rgb: hue, saturation and value.
#include "ops/colour/channels.hpp"
#include "ops/colour/spaces.hpp"
#include "ops/images.hpp"

// White cancels in the hue and in the saturation. A pixel with NaN in a channel is NaN, as is the
// sum of its channels: the largest and the smallest of three values would leave it out.
IMPIPE_POINT_BODY(hue, (r, g, b), (), {
  const real v = max(max(r, g), b);
  const real d = v - min(min(r, g), b);
  const real apart = v == r ? g - b : v == g ? b - r : r - g;
  const real part = apart / d / real(6);
  const real h = v == r ? part : v == g ? real(1.0 / 3.0) + part : real(2.0 / 3.0) + part;
  const real all = r + g + b;
  return all != all ? all : d == real(0) ? real(0) : h < real(0) ? h + real(1) : h;
})
IMPIPE_POINT_BODY(saturation, (r, g, b), (), {
  const real v = max(max(r, g), b);
  const real low = min(min(r, g), b);
  const real all = r + g + b;
  return all != all ? all : v - low == real(0) || v == real(0) ? real(0) : real(1) - low / v;
})
IMPIPE_POINT_BODY(largest_channel, (r, g, b), (white), {
  const real all = r + g + b;
  return all != all ? all : over(max(max(r, g), b), white);
})

// first: 5, 3, 1 for red, green, blue. Along the six sixths of the hue a channel is v, falls to
// v(1-s), stays there and rises again; k counts from the place where it begins to rise.
IMPIPE_POINT_BODY(hsv2rgb, (h, s, v), (white, first), {
  const real turn = over(h, white);
  const real start = real(6) * (turn - floor(turn)) + first;
  const real k = start >= real(6) ? start - real(6) : start;
  const real falls = max(min(min(k, real(4) - k), real(1)), real(0));
  const real value = over(v, white);
  return k != k ? k : value - value * over(s, white) * falls;
})

namespace impipe::ops {
namespace {

ImageValue mixed(PlanBuilder& plan, const PointBody& body, const ImageValue& image,
                 const std::vector<Arg>& args) {
  Result one = unit_single;
  one.channels = 1;
  return plan.point(Point{.body = &body, .mixes_channels = true}, {image}, args, one);
}

const RegisterOperator rgb2hsv_operator{{
    .name = "rgb2hsv",
    .help = "hue, saturation and value of a colour image",
    .colour = true,
    .details =
        "v = max / white, d = max - min, s = 1 - min / max (0 where d or max is 0); h = (g-b)/d/6 "
        "where\n"
        "red is largest, else 1/3 + (b-r)/d/6 where green is, else 2/3 + (r-g)/d/6; 1 is added to\n"
        "what is negative, d = 0 gives 0. The result is single with white 1.",
    .example = "rgb2hsv | channel 2",
    .accuracy = "1e-6, relative for saturations above 1",
    .not_finite = nan_mixed,
    .matlab = "rgb2hsv(A) (there in double)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const ImageValue image = plan.current();
          need_white(call, image);
          return joined_channels(
              plan,
              {mixed(plan, bodies::hue, image, {}), mixed(plan, bodies::saturation, image, {}),
               mixed(plan, bodies::largest_channel, image, {image.type.white})});
        },
}};

const RegisterOperator hsv2rgb_operator{{
    .name = "hsv2rgb",
    .help = "the colour image of hue, saturation and value",
    .colour = true,
    .details =
        "Of the values on the unit scale: h modulo 1, i = floor(6h), f = 6h - i, p = v(1-s),\n"
        "q = v(1-sf), t = v(1-s(1-f)); (v,t,p) (q,v,p) (p,v,t) (p,q,v) (t,p,v) (v,p,q) for i = 0 "
        "to 5.\nThe result is single with white 1.",
    .example = "rgb2hsv | hsv2rgb",
    .accuracy = "1e-6",
    .not_finite = {NotFinite::Rule::propagated,
                   "NaN in one channel of a pixel makes NaN of the others that it is computed for"},
    .matlab = "hsv2rgb(A) (there in double)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const ImageValue image = plan.current();
          need_white(call, image);
          std::vector<ImageValue> channels;
          for (const double first : {5.0, 3.0, 1.0}) {
            channels.push_back(mixed(plan, bodies::hsv2rgb, image, {image.type.white, first}));
          }
          return joined_channels(plan, channels);
        },
}};

}  // namespace
}  // namespace impipe::ops
