// The fixed functions of OpenColorIO, as the Academy's CTL and ITU-R BT.2100 write them.
#include "ops/colour/fixed_functions.hpp"

#include "ops/colour/channels.hpp"
#include "ops/colour/spaces.hpp"

IMPIPE_POINT_BODY(within_half, (x), (white),
                  { return clamp(over(x, white), real(-65504), real(65504)); })
IMPIPE_POINT_BODY(scaled, (x, by), (), { return x * by; })

// How far the largest channel is from the smallest one, where there is light.
IMPIPE_POINT_BODY(rrt_saturation, (r, g, b), (), {
  const real high = max(max(r, g), b);
  const real low = min(min(r, g), b);
  return (max(high, real(1e-10)) - max(low, real(1e-10))) / max(high, real(0.01));
})
// Light with 1.75 of the chroma; the root is of the differences' squares, so never of less than 0.
IMPIPE_POINT_BODY(rrt_light, (r, g, b), (), {
  const real apart = (r - g) * (r - g) + (g - b) * (g - b) + (b - r) * (b - r);
  return (r + g + b + real(1.75) * sqrt(real(0.5) * apart)) / real(3);
})
IMPIPE_POINT_BODY(rrt_glow_gain, (saturation), (gain), {
  const real x = (saturation - real(0.4)) * real(5);
  const real rest = max(real(1) - real(0.5) * abs(x), real(0));
  const real rise = real(1) - rest * rest;
  return gain * real(0.5) * (x < real(0) ? real(1) - rise : real(1) + rise);
})
IMPIPE_POINT_BODY(rrt_glow, (light, gain), (middle), {
  const real part = light <= middle * real(2.0 / 3.0) ? real(1) : middle / light - real(0.5);
  return light >= real(2) * middle ? real(1) : fma(gain, part, real(1));
})
IMPIPE_POINT_BODY(rrt_glow_back, (light, gain), (middle), {
  const real part = gain * (middle / light - real(0.5)) / (real(0.5) * gain - real(1));
  const real made =
      light <= (real(1) + gain) * middle * real(2.0 / 3.0) ? -gain / (real(1) + gain) : part;
  return light >= real(2) * middle ? real(1) : real(1) + made;
})

// A cubic B-spline over the hue, 1 at red; knots: of its distances, in a radian.
IMPIPE_POINT_BODY(rrt_red_weight, (r, g, b), (knots), {
  const real d = knots * abs(atan2(real(1.7320508075688772) * (g - b), real(2) * r - (g + b)));
  const real near = real(1) + d * d * (real(0.75) * d - real(1.5));
  const real end = real(2) - d;
  const real far = d < real(2) ? real(0.25) * end * end * end : d * real(0);
  return d < real(1) ? near : far;
})
IMPIPE_POINT_BODY(rrt_red, (r, weight, saturation), (less, pivot),
                  { return fma(weight * saturation * less, pivot - r, r); })
// What keeps the hue: the middle channel stays as far between the others.
IMPIPE_POINT_BODY(rrt_hue_kept, (x, other, r, made, weight), (), {
  const real part = (x - other) / max(r - other, real(1e-10));
  return weight > real(0) && x >= other ? fma(part, made - other, other) : x;
})
IMPIPE_POINT_BODY(lesser_channel, (r, g, b), (), { return min(g, b); })
IMPIPE_POINT_BODY(rrt_red_back, (r, weight, low), (less, pivot), {
  const real a = weight * less - real(1);
  const real b = r - weight * (pivot + low) * less;
  const real c = weight * pivot * low * less;
  return weight > real(0) ? (-b - sqrt(b * b - real(4) * a * c)) / (real(2) * a) : r;
})

// What makes a power of a colour's light, over that light.
IMPIPE_POINT_BODY(surround_gain, (r, g, b), (k1, k2, k3, least, exponent), {
  const real light = fma(k3, b, fma(k2, g, k1 * r));
  return light != light ? light : pow(max(light, least), exponent);
})

// The Reference Gamut Compression of ACES 1.3: of distances from the largest channel beyond a
// threshold; sign: -1 on the way back. It is written with powers that do not overflow.
IMPIPE_POINT_BODY(gamut_compressed, (x, top), (threshold, scale, power, sign), {
  const real distance = (top - x) / abs(top);
  const real beyond = (distance - threshold) / scale;
  const real part = pow(pow(beyond, -power) + sign, real(-1) / power);
  const real made = top - (threshold + scale * part) * abs(top);
  const real kept = sign < real(0) && beyond >= real(1) ? x : made;
  return top == real(0) ? real(0) : distance < threshold ? x : kept;
})

// Hue, saturation and value also of light below 0: saturations are up to 2 there.
IMPIPE_POINT_BODY(wide_saturation, (r, g, b), (), {
  const real high = max(max(r, g), b);
  const real low = min(min(r, g), b);
  const real part = high == real(0) ? real(0) : (high - low) / high;
  return (-low > high ? (high - low) / -low : part) + (r + g + b) * real(0);
})
IMPIPE_POINT_BODY(wide_value, (r, g, b), (), {
  return max(max(r, g), b) + min(min(min(r, g), b), real(0)) + (r + g + b) * real(0);
})
// first: 5, 3, 1 for red, green, blue, as of hsv2rgb.
IMPIPE_POINT_BODY(of_wide_hsv, (h, s, v), (first), {
  const real start = real(6) * (h - floor(h)) + first;
  const real k = start >= real(6) ? start - real(6) : start;
  const real falls = max(min(min(k, real(4) - k), real(1)), real(0));
  const real part = clamp(s, real(0), real(1.999));
  const real rest = part > real(1) ? v * (real(1) - part) / (real(2) - part) : v * (real(1) - part);
  const real low = v < real(0) ? v / (real(2) - part) : rest;
  const real high = part > real(1) || v < real(0) ? v - low : v;
  return fma(falls, low - high, high) + h * real(0);
})

// Chromaticities (u, v) are quotients of sums of X, Y and Z, and Y the light; then the way back.
IMPIPE_POINT_BODY(chromaticity, (x, y, z), (kx, ky, d1, d2, d3), {
  const real all = fma(d3, z, fma(d2, y, d1 * x));
  return all == real(0) ? real(0) : fma(ky, y, kx * x) / all;
})
IMPIPE_POINT_BODY(of_chromaticity, (u, v, light), (k0, ku, kv), {
  const real part = fma(kv, v, fma(ku, u, k0)) / v;
  return v == real(0) ? real(0) : light * part;
})
// CIE L*u*v* over 100, of the white D65.
IMPIPE_POINT_BODY(luv_lightness, (light), (), {
  const real root = cube_root(max(light, real(1e-6)));
  return light > real(216.0 / 24389.0) ? fma(real(1.16), root, real(-0.16))
                                       : real(24389.0 / 2700.0) * light;
})
IMPIPE_POINT_BODY(luv_light, (l), (), {
  const real root = (l + real(0.16)) / real(1.16);
  return l > real(0.08) ? root * root * root : real(2700.0 / 24389.0) * l;
})
IMPIPE_POINT_BODY(luv_colour, (u, l), (white), { return real(13) * l * (u - white); })
IMPIPE_POINT_BODY(of_luv_colour, (colour, l), (white),
                  { return l == real(0) ? white : colour / (real(13) * l) + white; })

namespace impipe::bodies {
extern const PointBody hue, largest_channel;  // of rgb2hsv
}

namespace impipe::ops {
namespace {

constexpr Result one_channel{.cls = PixelClass::single, .white = 1, .channels = 1};

class Maker {
 public:
  Maker(PlanBuilder& plan, const ImageValue& image, const FixedFunction& function)
      : plan_(plan), image_(image), function_(function) {}

  ImageValue glow() const {
    const ImageValue gain =
        gray(bodies::rrt_glow_gain, {across(bodies::rrt_saturation)}, {number(0)});
    return scaled(gray(function_.inverse ? bodies::rrt_glow_back : bodies::rrt_glow,
                       {across(bodies::rrt_light), gain}, {number(1)}));
  }

  ImageValue red_modifier() const {
    const bool back = function_.inverse;
    const ImageValue weight = across(bodies::rrt_red_weight, {number(2)});
    const ImageValue by = across(back ? bodies::lesser_channel : bodies::rrt_saturation);
    const ImageValue red = channel(0), green = channel(1), blue = channel(2);
    const ImageValue made = gray(back ? bodies::rrt_red_back : bodies::rrt_red, {red, weight, by},
                                 {number(0), number(1)});
    if (number(3) == 0) return joined({made, green, blue});
    const auto kept = [&](const ImageValue& one, const ImageValue& other) {
      return gray(bodies::rrt_hue_kept, {one, other, red, made, weight}, {});
    };
    return joined({made, kept(green, blue), kept(blue, green)});
  }

  ImageValue surround() const {
    return scaled(
        across(bodies::surround_gain, {function_.numbers.begin(), function_.numbers.end()}));
  }

  ImageValue gamut_compression() const {
    const ImageValue top = across(bodies::largest_channel, {1.0});
    std::vector<ImageValue> made;
    for (int c = 0; c < 3; ++c) {
      made.push_back(gray(bodies::gamut_compressed, {channel(c), top},
                          {number(c), number(4 + c), number(3), function_.inverse ? -1.0 : 1.0}));
    }
    return joined(made);
  }

  ImageValue hsv() const {
    if (!function_.inverse) {
      return joined(
          {across(bodies::hue), across(bodies::wide_saturation), across(bodies::wide_value)});
    }
    return joined({across(bodies::of_wide_hsv, {5.0}), across(bodies::of_wide_hsv, {3.0}),
                   across(bodies::of_wide_hsv, {1.0})});
  }

  // The numbers: those of X and Y above the line, of X, Y and Z below it.
  ImageValue chromaticities() const {
    const double kx = number(0), ky = number(1), d1 = number(2), d2 = number(3), d3 = number(4);
    if (!function_.inverse) {
      return joined({across(bodies::chromaticity, {kx, 0.0, d1, d2, d3}),
                     across(bodies::chromaticity, {0.0, ky, d1, d2, d3}), channel(1)});
    }
    return joined({across(bodies::of_chromaticity, {0.0, ky / kx, 0.0}), channel(2),
                   across(bodies::of_chromaticity, {ky / d3, -d1 * ky / kx / d3, -d2 / d3})});
  }

  // Of u, v and Y, and back to them.
  ImageValue luv() const {
    constexpr double u = 0.19783001, v = 0.46831999;
    const auto made = [&](const PointBody& body, int c, const ImageValue& l, double white) {
      return gray(body, {channel(c), l}, {white});
    };
    if (function_.inverse) {
      const ImageValue l = channel(0);
      return joined({made(bodies::of_luv_colour, 1, l, u), made(bodies::of_luv_colour, 2, l, v),
                     gray(bodies::luv_light, {l}, {})});
    }
    const ImageValue l = gray(bodies::luv_lightness, {channel(2)}, {});
    return joined({l, made(bodies::luv_colour, 0, l, u), made(bodies::luv_colour, 1, l, v)});
  }

 private:
  double number(int i) const { return function_.numbers[static_cast<std::size_t>(i)]; }
  ImageValue across(const PointBody& body, std::vector<Arg> args = {}) const {
    return plan_.point(Point{.body = &body, .mixes_channels = true}, {image_}, std::move(args),
                       one_channel);
  }
  ImageValue gray(const PointBody& body, std::vector<ImageValue> of, std::vector<Arg> args) const {
    return plan_.point(body, std::move(of), std::move(args), one_channel);
  }
  ImageValue scaled(const ImageValue& by) const {
    return plan_.point(bodies::scaled, {image_, by}, {}, unit_single);
  }
  ImageValue channel(int c) const { return picked_channel(plan_, image_, c); }
  ImageValue joined(const std::vector<ImageValue>& channels) const {
    return joined_channels(plan_, channels);
  }

  PlanBuilder& plan_;
  ImageValue image_;
  const FixedFunction& function_;
};

}  // namespace

ImageValue by_function(PlanBuilder& plan, const ImageValue& image, const FixedFunction& function) {
  const Maker maker(plan, plan.point(bodies::within_half, {image}, {image.type.white}, unit_single),
                    function);
  switch (function.kind) {
    case FixedFunction::Kind::glow: return maker.glow();
    case FixedFunction::Kind::red_modifier: return maker.red_modifier();
    case FixedFunction::Kind::surround: return maker.surround();
    case FixedFunction::Kind::hsv: return maker.hsv();
    case FixedFunction::Kind::chromaticities: return maker.chromaticities();
    case FixedFunction::Kind::luv: return maker.luv();
    default: return maker.gamut_compression();
  }
}

}  // namespace impipe::ops
