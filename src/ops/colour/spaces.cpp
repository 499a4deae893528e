// rgb2xyz, rgb2lab, rgb2ycbcr and their ways back, rgb2lin and lin2rgb: a curve for each channel
// and a matrix across them, one after the other.
#include "ops/colour/spaces.hpp"

#include "ops/colour/channels.hpp"
#include "ops/images.hpp"

// sRGB's curve (IEC 61966-2-1), from the value on the unit scale to light and back. A power by its
// logarithm is a quarter as long, and what that loses is far below the stated accuracy up to 1.
IMPIPE_POINT_BODY(srgb_to_light, (x), (white), {
  const real u = over(x, white);
  return u > real(0.04045) ? exp(real(2.4) * log(real(1.0 / 1.055) * (u + real(0.055))))
                           : real(1.0 / 12.92) * u;
})
// The power of 1 / 2.4 is that of 5/4 of the cube root.
IMPIPE_POINT_BODY(light_to_srgb, (l), (), {
  const real root = cube_root(l);
  return l > real(0.0031308) ? real(1.055) * (root * sqrt(sqrt(root))) - real(0.055)
                             : real(12.92) * l;
})
// The same curves, odd: the sign stays.
IMPIPE_POINT_BODY(rgb2lin, (x), (white), {
  const real u = abs(over(x, white));
  const real l =
      u > real(0.04045) ? pow((u + real(0.055)) / real(1.055), real(2.4)) : u / real(12.92);
  return (x < real(0) ? -l : l) * white;
})
IMPIPE_POINT_BODY(lin2rgb, (x), (white), {
  const real l = abs(over(x, white));
  const real u =
      l > real(0.0031308) ? real(1.055) * pow(l, real(1.0 / 2.4)) - real(0.055) : real(12.92) * l;
  return (x < real(0) ? -u : u) * white;
})

// CIE's f and its inverse; the line below (6/29)^3 has the slope (29/3)^3 / 116.
IMPIPE_POINT_BODY(lab_curve, (t), (), {
  const real root = cube_root(t);
  return t > real(216.0 / 24389.0) ? root
                                   : fma(real(24389.0 / 27.0 / 116.0), t, real(16.0 / 116.0));
})
IMPIPE_POINT_BODY(lab_curve_back, (f), (), {
  const real cube = f * f * f;
  return cube > real(216.0 / 24389.0) ? cube : real(108.0 / 841.0) * (f - real(16.0 / 116.0));
})

// Light of three colours together, and what is made of f of X, Y and Z, and back.
IMPIPE_POINT_BODY(sum_of_light, (r, g, b), (k1, k2, k3), { return fma(k3, b, fma(k2, g, k1 * r)); })
IMPIPE_POINT_BODY(lab_lightness, (x, y, z), (), { return fma(real(116), y, -real(16)); })
IMPIPE_POINT_BODY(lab_red_green, (x, y, z), (), { return real(500) * (x - y); })
IMPIPE_POINT_BODY(lab_yellow_blue, (x, y, z), (), { return real(200) * (y - z); })
IMPIPE_POINT_BODY(lab_curved, (l, a, b), (ka, kb),
                  { return fma(kb, b, fma(ka, a, fma(real(1.0 / 116.0), l, real(16.0 / 116.0)))); })

namespace impipe::ops {
namespace {

using Three = std::array<std::array<double, 3>, 3>;

constexpr Three xyz_of_light{{{0.412453, 0.357580, 0.180423},
                              {0.212671, 0.715160, 0.072169},
                              {0.019334, 0.119193, 0.950227}}};
constexpr Three light_of_xyz{{{3.240479, -1.537150, -0.498535},
                              {-0.969256, 1.875992, 0.041556},
                              {0.055648, -0.204043, 1.057311}}};
constexpr std::array<double, 3> d65{0.95047, 1, 1.08883};

ImageValue light_of(PlanBuilder& plan, const ImageValue& image) {
  return plan.point(bodies::srgb_to_light, {image}, {image.type.white}, unit_single);
}

// A channel of `image`'s three by each body, with its parameters.
struct Mixed {
  const PointBody* body;
  std::vector<Arg> arguments;
};
ImageValue mixed(PlanBuilder& plan, const ImageValue& image, const std::array<Mixed, 3>& channels,
                 Result result) {
  result.channels = 1;
  std::vector<ImageValue> made;
  for (const Mixed& one : channels) {
    made.push_back(plan.point(Point{.body = one.body, .mixes_channels = true}, {image},
                              one.arguments, result));
  }
  return joined_channels(plan, made);
}

ImageValue mixed_light(PlanBuilder& plan, const ImageValue& image, const Three& rows,
                       Result result) {
  const auto row = [&](std::size_t r) {
    return Mixed{&bodies::sum_of_light, {rows[r][0], rows[r][1], rows[r][2]}};
  };
  return mixed(plan, image, {row(0), row(1), row(2)}, result);
}

// From XYZ, each channel in these units.
ImageValue rgb_of_xyz(PlanBuilder& plan, const ImageValue& xyz,
                      const std::array<double, 3>& units) {
  Three rows = light_of_xyz;
  for (auto& row : rows) {
    for (std::size_t c = 0; c < 3; ++c) row[c] *= units[c];
  }
  return plan.point(bodies::light_to_srgb, {mixed_light(plan, xyz, rows, unit_single)}, {},
                    unit_single);
}

}  // namespace

ImageValue to_lab(PlanBuilder& plan, const ImageValue& image) {
  Three relative = xyz_of_light;
  for (std::size_t c = 0; c < 3; ++c) {
    for (double& k : relative[c]) k /= d65[c];
  }
  const ImageValue f = plan.point(
      bodies::lab_curve, {mixed_light(plan, light_of(plan, image), relative, single_result)}, {},
      single_result);
  return mixed(plan, f,
               {{{&bodies::lab_lightness, {}},
                 {&bodies::lab_red_green, {}},
                 {&bodies::lab_yellow_blue, {}}}},
               single_result);
}

ImageValue from_lab(PlanBuilder& plan, const ImageValue& lab) {
  const auto f = [](double a, double b) { return Mixed{&bodies::lab_curved, {a, b}}; };
  const ImageValue curved =
      mixed(plan, lab, {f(1.0 / 500, 0), f(0, 0), f(0, -1.0 / 200)}, single_result);
  const ImageValue xyz = plan.point(bodies::lab_curve_back, {curved}, {}, single_result);
  return rgb_of_xyz(plan, xyz, d65);
}

namespace {

constexpr Classes only_single{.logical = false, .uint8 = false, .uint16 = false};

const RegisterOperator rgb2xyz_operator{{
    .name = "rgb2xyz",
    .help = "CIE XYZ of an sRGB image",
    .colour = true,
    .profile = Operator::Profile::srgb,
    .details =
        "u = x / white; lin(u) = u / 12.92 up to 0.04045, ((u + 0.055) / 1.055)^2.4 above;\n"
        "X = 0.412453 R + 0.357580 G + 0.180423 B, Y = 0.212671 R + 0.715160 G + 0.072169 B,\n"
        "Z = 0.019334 R + 0.119193 G + 0.950227 B of lin(u). The result is single with white 1.",
    .example = "rgb2xyz",
    .accuracy = "1e-6 of white for values up to white, beyond 3e-6 of their power",
    .not_finite = nan_mixed,
    .matlab = "rgb2xyz(A) (there in double; digits of the matrix beyond the sixth differ)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          need_white(call, plan.current());
          return mixed_light(plan, light_of(plan, plan.current()), xyz_of_light, unit_single);
        },
}};

const RegisterOperator xyz2rgb_operator{{
    .name = "xyz2rgb",
    .help = "the sRGB image of CIE XYZ",
    .classes = only_single,
    .colour = true,
    .details =
        "R = 3.240479 X - 1.537150 Y - 0.498535 Z, G = -0.969256 X + 1.875992 Y + 0.041556 Z,\n"
        "B = 0.055648 X - 0.204043 Y + 1.057311 Z; each l becomes 12.92 l up to 0.0031308,\n"
        "1.055 l^(1/2.4) - 0.055 above. single with white 1, not clamped.",
    .example = "rgb2xyz | xyz2rgb",
    .accuracy = "1e-6 of white for values up to 1",
    .not_finite = nan_mixed,
    .matlab = "xyz2rgb(A) (there in double; digits of the matrix beyond the sixth differ)",
    .lower =
        [](const Call&, PlanBuilder& plan) {
          const ImageValue image = plan.current();
          const double unit = image.type.white == 0 ? 1 : 1 / image.type.white;
          return rgb_of_xyz(plan, image, {unit, unit, unit});
        },
}};

const RegisterOperator rgb2lab_operator{{
    .name = "rgb2lab",
    .help = "CIE L*a*b* of an sRGB image, white point D65",
    .colour = true,
    .profile = Operator::Profile::srgb,
    .details = "X / 0.95047, Y, Z / 1.08883 of rgb2xyz; f(t) = t^(1/3) above (6/29)^3, else\n"
               "(29/3)^3 / 116 t + 16/116; L = 116 f(Y) - 16, a = 500 (f(X) - f(Y)),\n"
               "b = 200 (f(Y) - f(Z)). L is 0 to 100. The result is single and has no white.",
    .example = "rgb2lab",
    .accuracy = "1e-3 (1e-5 of 100)",
    .not_finite = nan_mixed,
    .matlab = "rgb2lab(A) (less than 0.01 apart: digits of its matrix)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          need_white(call, plan.current());
          return to_lab(plan, plan.current());
        },
}};

const RegisterOperator lab2rgb_operator{{
    .name = "lab2rgb",
    .help = "the sRGB image of CIE L*a*b*, white point D65",
    .classes = only_single,
    .colour = true,
    .details =
        "fy = (L + 16) / 116, fx = fy + a / 500, fz = fy - b / 200; t = f^3 where that is above\n"
        "(6/29)^3, else (f - 16/116) / ((29/3)^3 / 116); times the white point, then xyz2rgb.\n"
        "single with white 1, not clamped.",
    .example = "rgb2lab | lab2rgb",
    .accuracy = "1e-5 of white",
    .not_finite = nan_mixed,
    .matlab = "lab2rgb(A) (less than 1e-4 apart)",
    .lower = [](const Call&, PlanBuilder& plan) { return from_lab(plan, plan.current()); },
}};

// --- YCbCr

struct Standard {
  std::string_view name;
  double kr, kb;
};
constexpr Standard standards[] = {
    {"601", 0.299, 0.114}, {"709", 0.2126, 0.0722}, {"2020", 0.2627, 0.0593}};

Three ycbcr_matrix(const Standard& s) {
  const double kg = 1 - s.kr - s.kb, b = 2 - 2 * s.kb, r = 2 - 2 * s.kr;
  return {{{s.kr, kg, s.kb}, {-s.kr / b, -kg / b, 0.5}, {0.5, -kg / r, -s.kb / r}}};
}

Three inverse(const Three& m) {
  const auto minor = [&](std::size_t r, std::size_t c) {
    const std::size_t r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
    return m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1];
  };
  const double det = m[0][0] * minor(0, 0) + m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2);
  Three out;
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) out[r][c] = minor(c, r) / det;
  }
  return out;
}

constexpr std::array<double, 3> ycbcr_scale{219.0 / 255, 224.0 / 255, 224.0 / 255};
constexpr std::array<double, 3> ycbcr_offset{16.0 / 255, 128.0 / 255, 128.0 / 255};

ImageValue lower_ycbcr(const Call& call, PlanBuilder& plan, bool back) {
  const ImageValue image = plan.current();
  need_white(call, image);
  const Standard* standard = standards;
  while (standard->name != call.word("standard")) ++standard;
  const Three forward = ycbcr_matrix(*standard);
  const Three m = back ? inverse(forward) : forward;
  std::array<Weights, 3> rows;
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) {
      rows[r].k[c] = back ? m[r][c] / ycbcr_scale[c] : m[r][c] * ycbcr_scale[r];
      if (back) rows[r].add -= rows[r].k[c] * ycbcr_offset[c] * image.type.white;
    }
    if (!back) rows[r].add = ycbcr_offset[r] * image.type.white;
  }
  return mixed_channels(plan, image, rows, like(image));
}

const Parameter standard{.name = "standard",
                         .help = "whose weights: ITU-R BT.601, BT.709 or BT.2020",
                         .words = {"601", "709", "2020"},
                         .fallback = "601"};

const RegisterOperator rgb2ycbcr_operator{{
    .name = "rgb2ycbcr",
    .help = "luma and two differences of colour; the class stays",
    .parameters = {standard},
    .classes = no_logical,
    .colour = true,
    .details =
        "(Kr, Kb) = (.299, .114) of 601, (.2126, .0722) of 709, (.2627, .0593) of 2020; on the "
        "unit\nscale Y = Kr R + Kg G + Kb B, Cb = (B - Y) / (2 - 2 Kb), Cr = (R - Y) / (2 - 2 "
        "Kr);\ntimes (219, 224, 224) / 255 plus (16, 128, 128) / 255, times white. Rounded once.",
    .example = "rgb2ycbcr",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-6 of white",
    .not_finite = nan_mixed,
    .matlab = "rgb2ycbcr(A) (601; its matrix has fewer digits)",
    .lower = [](const Call& call, PlanBuilder& plan) { return lower_ycbcr(call, plan, false); },
}};

const RegisterOperator ycbcr2rgb_operator{{
    .name = "ycbcr2rgb",
    .help = "the colour image of luma and two differences of colour; the class stays",
    .parameters = {standard},
    .classes = no_logical,
    .colour = true,
    .details = "The inverse of rgb2ycbcr, rounded and saturated once; single is not clamped.",
    .example = "rgb2ycbcr | ycbcr2rgb",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-6 of white",
    .not_finite = nan_mixed,
    .matlab = "ycbcr2rgb(A) (601; its matrix has fewer digits)",
    .lower = [](const Call& call, PlanBuilder& plan) { return lower_ycbcr(call, plan, true); },
}};

// --- light

ImageValue along_curve(const Call& call, PlanBuilder& plan, const PointBody& curve) {
  const ImageValue image = plan.current();
  need_white(call, image);
  return plan.point(curve, {image}, {image.type.white}, like(image));
}

const RegisterOperator rgb2lin_operator{{
    .name = "rgb2lin",
    .help = "values of sRGB as amounts of light; the class stays",
    .classes = no_logical,
    .profile = Operator::Profile::srgb,
    .details =
        "u = |x| / white; u / 12.92 up to 0.04045, ((u + 0.055) / 1.055)^2.4 above, times white,\n"
        "with the sign of x. Each channel; gray images too. Integer classes: in double, rounded.",
    .example = "rgb2lin | imgaussfilt 2 | lin2rgb",
    .accuracy = "exact for integer classes; single 1e-6 of white, above it 2e-6 relative",
    .not_finite = {NotFinite::Rule::propagated},
    .matlab = "rgb2lin(A) (same)",
    .lower = [](const Call& call,
                PlanBuilder& plan) { return along_curve(call, plan, bodies::rgb2lin); },
}};

const RegisterOperator lin2rgb_operator{{
    .name = "lin2rgb",
    .help = "amounts of light as values of sRGB; the class stays",
    .classes = no_logical,
    .details =
        "l = |x| / white; 12.92 l up to 0.0031308, 1.055 l^(1/2.4) - 0.055 above, times white,\n"
        "with the sign of x. Each channel; gray images too. Integer classes: in double, rounded.",
    .example = "rgb2lin | imresize 0.5 | lin2rgb",
    .accuracy = "exact for integer classes; single 1e-6 of white",
    .not_finite = {NotFinite::Rule::propagated},
    .matlab = "lin2rgb(A) (same)",
    .lower = [](const Call& call,
                PlanBuilder& plan) { return along_curve(call, plan, bodies::lin2rgb); },
}};

}  // namespace
}  // namespace impipe::ops
