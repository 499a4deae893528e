// Where the pixels of a window or of a resampled image come from.
#include "core/placement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

// semantics.md 8.3; k counts output pixels, tap the kernel's, from 0. The place of output k is
// 0.5 + 0.5 / scale + k / scale, counted from 1.
IMPIPE_POINT_BODY(resize_first, (k), (scale, before),
                  { return floor(real(0.5) + real(0.5) / scale + k / scale) - before - real(1); })
IMPIPE_POINT_BODY(resize_copied, (k), (scale, last), {
  return clamp(round_away(real(0.5) + real(0.5) / scale + k / scale) - real(1), real(0), last);
})
IMPIPE_POINT_BODY(resize_triangle, (k, tap), (scale, narrow, before), {
  const real place = real(0.5) + real(0.5) / scale + k / scale;
  const real h = abs(narrow * (tap - before - (place - floor(place))));
  return narrow * max(real(1) - h, real(0));
})
// Keys' kernel with a = -0.5.
IMPIPE_POINT_BODY(resize_cubic, (k, tap), (scale, narrow, before), {
  const real place = real(0.5) + real(0.5) / scale + k / scale;
  const real h = abs(narrow * (tap - before - (place - floor(place))));
  const real inner = (real(1.5) * h - real(2.5)) * h * h + real(1);
  const real outer = ((real(-0.5) * h + real(2.5)) * h - real(4)) * h + real(2);
  return narrow * (h <= real(1) ? inner : h < real(2) ? outer : real(0));
})
// The sine of pi x, by its series round 0: the same bits everywhere.
#define IMPIPE_SINE_OF_PI(name, x)                                                  \
  const real name##_whole = round_away(x);                                          \
  const real name##_rest = (x)-name##_whole;                                        \
  const real name##_s = name##_rest * name##_rest;                                  \
  const real name##_odd = name##_whole - real(2) * floor(name##_whole * real(0.5)); \
  const real name =                                                                 \
      (real(1) - real(2) * name##_odd) * name##_rest *                              \
      (real(3.141592653589793) +                                                    \
       name##_s *                                                                   \
           (real(-5.16771278004997) +                                               \
            name##_s *                                                              \
                (real(2.550164039877345) +                                          \
                 name##_s *                                                         \
                     (real(-0.5992645293207921) +                                   \
                      name##_s *                                                    \
                          (real(0.08214588661112823) +                              \
                           name##_s *                                               \
                               (real(-0.00737043094571435) +                        \
                                name##_s *                                          \
                                    (real(4.6630280576761255e-4) +                  \
                                     name##_s *                                     \
                                         (real(-2.1915353447830217e-5) +            \
                                          name##_s *                                \
                                              (real(7.952054001475513e-7) +         \
                                               name##_s *                           \
                                                   (real(-2.2948428997269873e-8) +  \
                                                    name##_s *                      \
                                                        real(5.392664662608127e-10)))))))))));
// (sin(pi x) sin(pi x / lobes) + eps) / (pi^2 x^2 / lobes + eps)
#define IMPIPE_LANCZOS(lobes)                                                            \
  const real place = real(0.5) + real(0.5) / scale + k / scale;                          \
  const real x = narrow * ((place - floor(place)) + before - tap);                       \
  const real part = x / real(lobes);                                                     \
  IMPIPE_SINE_OF_PI(wave, x)                                                             \
  IMPIPE_SINE_OF_PI(slow, part)                                                          \
  const real value = (wave * slow + real(2.220446049250313e-16)) /                       \
                     (real(9.869604401089358) * x * part + real(2.220446049250313e-16)); \
  return abs(x) < real(lobes) ? narrow * value : real(0);
// Expands those above before the text of the body is kept.
#define IMPIPE_WEIGHT_BODY(...) IMPIPE_POINT_BODY(__VA_ARGS__)
IMPIPE_WEIGHT_BODY(resize_lanczos2, (k, tap), (scale, narrow, before), {IMPIPE_LANCZOS(2)})
IMPIPE_WEIGHT_BODY(resize_lanczos3, (k, tap), (scale, narrow, before), {IMPIPE_LANCZOS(3)})
IMPIPE_POINT_BODY(resize_box, (k, tap), (scale, narrow, before), {
  const real place = real(0.5) + real(0.5) / scale + k / scale;
  const real x = narrow * ((place - floor(place)) + before - tap);
  return x >= real(-0.5) && x < real(0.5) ? narrow : real(0);
})

namespace impipe {
namespace {

// An interval of pixels, of which `cut` leaves what lies in [0, n).
struct Interval {
  double from = 0, length = 0;
};

Interval placed(const Node& node, int first, std::int64_t n, bool cut) {
  const auto sum = [&](int index) {
    const auto place = static_cast<std::size_t>(first) + static_cast<std::size_t>(index);
    return node.arguments.at(place).value +
           node.arguments.at(place + 1).value * static_cast<double>(n);
  };
  Interval out{std::floor(sum(0)), std::floor(sum(2) + 0.5)};
  if (cut) {
    const double end = std::min(out.from + out.length, static_cast<double>(n));
    out.from = std::max(out.from, 0.0);
    out.length = end - out.from;
  }
  out.length = std::max(out.length, 0.0);
  return out;
}

double argument(const Node& node, int index) {
  return node.arguments.at(static_cast<std::size_t>(index)).value;
}

// Of a method's kernel, in pixels.
double width_of(Resample::Method method) {
  switch (method) {
    case Resample::Method::bicubic:
    case Resample::Method::lanczos2: return 4;
    case Resample::Method::lanczos3: return 6;
    case Resample::Method::nearest:
    case Resample::Method::box: return 1;
    case Resample::Method::bilinear: break;
  }
  return 2;
}

// size, scale: 0 when not given, and where both are, that is how it is; other: the other
// direction's size over its input, 0 when not given.
ResizeAxis axis_of(const Resample& resample, std::int64_t from, double size, double scale,
                   double other_size, std::int64_t other_from) {
  const double n = static_cast<double>(from);
  ResizeAxis axis{.from = from, .scale = scale};
  const bool settled = size > 0 && scale > 0;
  if (settled) {
    // Places by this scale, as many as that size.
  } else if (size > 0) {
    axis.scale = size / n;
  } else if (other_size > 0) {
    axis.scale = other_size / static_cast<double>(other_from);
    size = std::ceil(n * other_size / static_cast<double>(other_from));
  } else {
    size = std::ceil(scale * n);
  }
  if (normalises(resample.method) && !settled) axis.scale = size / n;
  axis.to = static_cast<std::int64_t>(size);
  axis.copies = resample.method == Resample::Method::nearest || axis.scale == 1;
  if (axis.copies) return axis;
  if (resample.antialias) axis.narrow = std::min(axis.scale, 1.0);
  const double width = width_of(resample.method);
  const int reach = static_cast<int>(std::ceil(width / axis.narrow / 2));
  axis.before = reach - 1;
  axis.taps = 2 * reach;
  return axis;
}

std::vector<double> evaluated(const PointBody& body, const std::vector<double>& k,
                              const std::vector<double>& tap, const std::vector<double>& args) {
  std::vector<double> out(k.size());
  const double* rows[] = {k.data(), tap.data()};
  body.rows_double[static_cast<int>(CpuLevel::baseline)](
      out.data(), rows, static_cast<std::int64_t>(k.size()), args.data());
  return out;
}

void divide_by_sums(std::vector<double>& weights, int taps) {
  for (auto at = weights.begin(); at != weights.end(); at += taps) {
    const double sum = std::accumulate(at, at + taps, 0.0);
    for (int t = 0; t < taps; ++t) at[t] /= sum;
  }
}

// imrotate's: a and b are the cosine and the sine of its angle.
Size turned_size(const Node& node, Size input) {
  const double cosine = std::fabs(argument(node, 2)), sine = std::fabs(argument(node, 3));
  const double w = static_cast<double>(input.width - 1), h = static_cast<double>(input.height - 1);
  return {static_cast<std::int64_t>(std::round(w * cosine + h * sine)) + 1,
          static_cast<std::int64_t>(std::round(w * sine + h * cosine)) + 1};
}

// More than any image has: what plans say is too large.
constexpr double no_side = 1 << 30;

// Where the image goes: as many pixels as the outline of its pixels needs, and the place of the
// first in the numbers of the map's result. Halves of what is too much lie on both sides.
struct Outline {
  double left = 0, top = 0;
  Size size;
};

// The inverse of the map from results to inputs, row major, up to a factor.
struct Forward {
  double m[9];
};
Forward forward_of(const Node& node) {
  const bool projective = std::get<Resample>(node.primitive).kind == Resample::Kind::projective;
  const double a = argument(node, 2), b = argument(node, 3), c = argument(node, 4);
  const double d = argument(node, 5), e = argument(node, 6), f = argument(node, 7);
  const double g = projective ? argument(node, 9) : 0, h = projective ? argument(node, 10) : 0;
  const double i = projective ? argument(node, 11) : 1;
  return {{e * i - f * h, c * h - b * i, b * f - c * e, f * g - d * i, a * i - c * g, c * d - a * f,
           d * h - e * g, b * g - a * h, a * e - b * d}};
}

Outline outline_of(const Node& node, Size input) {
  const Forward to = forward_of(node);
  // Maps that count from the centres do so here, too.
  const bool centred = argument(node, 8) != 0;
  const double x0 = centred ? static_cast<double>(input.width - 1) / 2 : 0;
  const double y0 = centred ? static_cast<double>(input.height - 1) / 2 : 0;
  double low[2] = {0, 0}, high[2] = {0, 0};
  for (int corner = 0; corner < 4; ++corner) {
    const double x = (corner % 2 == 0 ? -0.5 : static_cast<double>(input.width) - 0.5) - x0;
    const double y = (corner / 2 == 0 ? -0.5 : static_cast<double>(input.height) - 0.5) - y0;
    const double w = to.m[6] * x + to.m[7] * y + to.m[8];
    const double at[2] = {(to.m[0] * x + to.m[1] * y + to.m[2]) / w,
                          (to.m[3] * x + to.m[4] * y + to.m[5]) / w};
    for (int k = 0; k < 2; ++k) {
      low[k] = corner == 0 ? at[k] : std::min(low[k], at[k]);
      high[k] = corner == 0 ? at[k] : std::max(high[k], at[k]);
    }
  }
  double count[2], first[2];
  for (int k = 0; k < 2; ++k) {
    const double extent = high[k] - low[k];
    // Roundings of the map make no pixel. A corner at infinity has no end.
    const double whole = std::ceil(extent - 1e-9 * std::max(extent, 1.0));
    count[k] = std::isfinite(whole) ? std::clamp(whole, 1.0, no_side) : no_side;
    first[k] = low[k] + (extent - count[k]) / 2 + 0.5;
  }
  return {first[0],
          first[1],
          {static_cast<std::int64_t>(count[0]), static_cast<std::int64_t>(count[1])}};
}

}  // namespace

const PointBody& resize_first_body() { return bodies::resize_first; }
const PointBody& resize_copied_body() { return bodies::resize_copied; }
const PointBody& resize_weight_body(Resample::Method method) {
  switch (method) {
    case Resample::Method::bicubic: return bodies::resize_cubic;
    case Resample::Method::lanczos2: return bodies::resize_lanczos2;
    case Resample::Method::lanczos3: return bodies::resize_lanczos3;
    case Resample::Method::box: return bodies::resize_box;
    case Resample::Method::nearest:
    case Resample::Method::bilinear: break;
  }
  return bodies::resize_triangle;
}

bool normalises(Resample::Method method) {
  using enum Resample::Method;
  return method == lanczos2 || method == lanczos3 || method == box;
}

Resample with_whole_ratio(Resample resize, double scale) {
  using enum Resample::Method;
  if (resize.method != bilinear && resize.method != bicubic) return resize;
  // k / (1 / n) is n k, even where 1 / n is rounded; k / 3 is rounded.
  for (const int n : {2, 3, 4}) {
    if (scale == 1.0 / n) {
      resize.phases = 1;
      resize.step = n;
    } else if (scale == n && n != 3) {
      resize.phases = n;
      resize.step = 1;
    }
  }
  return resize;
}

ResizeAxes resize_axes(const Node& node, Size input) {
  const Resample& resample = std::get<Resample>(node.primitive);
  const double width = argument(node, 0), height = argument(node, 1);
  const double across = argument(node, 2), down = argument(node, 3);
  if (width >= 0) {
    return {axis_of(resample, input.width, width, across, height, input.height),
            axis_of(resample, input.height, height, down, width, input.width)};
  }
  // Below 0 are the sides of a box: the result's side that reaches it first, and the other from
  // that. The third argument is 1 where that never enlarges, the fourth where it never shrinks.
  const double w = static_cast<double>(input.width), h = static_cast<double>(input.height);
  const bool fits_in = w <= -width && h <= -height;
  double fitted_width = 0, fitted_height = 0;
  if ((across > 0 && fits_in) || (down > 0 && !fits_in)) {
    fitted_width = w;
    fitted_height = h;
  } else if (-width * h <= -height * w) {
    fitted_width = -width;
  } else {
    fitted_height = -height;
  }
  return {axis_of(resample, input.width, fitted_width, 0, fitted_height, input.height),
          axis_of(resample, input.height, fitted_height, 0, fitted_width, input.width)};
}

Size resampled_size(const Node& node, Size input) {
  if (std::get<Resample>(node.primitive).kind == Resample::Kind::resize) {
    const ResizeAxes axes = resize_axes(node, input);
    return {axes.x.to, axes.y.to};
  }
  switch (std::get<Resample>(node.primitive).view) {
    case Resample::View::turned: return turned_size(node, input);
    case Resample::View::all: return outline_of(node, input).size;
    case Resample::View::given: break;
  }
  const auto size = [&](int index, std::int64_t own) {
    const double given = argument(node, index);
    return given > 0 ? static_cast<std::int64_t>(given) : own;
  };
  return {size(0, input.width), size(1, input.height)};
}

ResizeTaps resize_taps(Resample::Method method, const ResizeAxis& axis) {
  ResizeTaps out;
  std::vector<double> k(static_cast<std::size_t>(axis.to));
  std::iota(k.begin(), k.end(), 0.0);
  const std::vector<double> first =
      axis.copies
          ? evaluated(bodies::resize_copied, k, {},
                      {axis.scale, static_cast<double>(axis.from - 1)})
          : evaluated(bodies::resize_first, k, {}, {axis.scale, static_cast<double>(axis.before)});
  for (const double place : first) out.first.push_back(static_cast<std::int32_t>(place));
  if (axis.copies) {
    out.weights.assign(static_cast<std::size_t>(axis.to), 1.0f);
    return out;
  }
  // A part at a time: as doubles the weights of a long side would take more than its image.
  constexpr std::int64_t part = 4096;
  std::vector<double> tap;
  out.weights.reserve(static_cast<std::size_t>(axis.to * axis.taps));
  for (std::int64_t from = 0; from < axis.to; from += part) {
    k.clear();
    tap.clear();
    for (std::int64_t i = from; i < std::min(from + part, axis.to); ++i) {
      for (int t = 0; t < axis.taps; ++t) {
        k.push_back(static_cast<double>(i));
        tap.push_back(static_cast<double>(t));
      }
    }
    std::vector<double> weights =
        evaluated(resize_weight_body(method), k, tap,
                  {axis.scale, axis.narrow, static_cast<double>(axis.before)});
    if (normalises(method)) divide_by_sums(weights, axis.taps);
    out.weights.insert(out.weights.end(), weights.begin(), weights.end());
  }
  return out;
}

MappedPlace mapped_place(const Node& node, Size input) {
  const Resample& resample = std::get<Resample>(node.primitive);
  MappedPlace p{.a = argument(node, 2),
                .b = argument(node, 3),
                .c = argument(node, 4),
                .d = argument(node, 5),
                .e = argument(node, 6),
                .f = argument(node, 7)};
  if (resample.kind == Resample::Kind::projective) {
    p.g = argument(node, 9);
    p.h = argument(node, 10);
    p.i = argument(node, 11);
  }
  const bool centred = argument(node, 8) != 0;
  if (resample.view == Resample::View::all) {
    const Outline all = outline_of(node, input);
    p.u0 = -all.left;
    p.v0 = -all.top;
  } else if (centred) {
    const Size output = resampled_size(node, input);
    p.u0 = static_cast<double>(output.width - 1) / 2;
    p.v0 = static_cast<double>(output.height - 1) / 2;
  }
  if (centred) {
    p.x0 = static_cast<double>(input.width - 1) / 2;
    p.y0 = static_cast<double>(input.height - 1) / 2;
  }
  return p;
}

bool is_plain_affine(const Resample& resample) {
  return resample.kind == Resample::Kind::affine && resample.method != Resample::Method::bicubic &&
         resample.beside == Resample::Beside::filled && resample.view == Resample::View::given;
}

AffinePlace affine_place(const Node& node, Size input) {
  AffinePlace p{argument(node, 2), argument(node, 3), argument(node, 4),
                argument(node, 5), argument(node, 6), argument(node, 7)};
  if (argument(node, 8) == 0) return p;
  const Size output = resampled_size(node, input);
  const double u = static_cast<double>(output.width - 1) / 2;
  const double v = static_cast<double>(output.height - 1) / 2;
  p.c += static_cast<double>(input.width - 1) / 2 - (p.a * u + p.b * v);
  p.f += static_cast<double>(input.height - 1) / 2 - (p.d * u + p.e * v);
  return p;
}

namespace {

// One direction of a grid of tiles: the frame before the image, and the side of a tile.
struct TileSide {
  std::int64_t frame, side;
};
TileSide tiled(std::int64_t n, int tiles) {
  const std::int64_t least = (n + tiles - 1) / tiles, side = least + least % 2;
  return {(side * tiles - n) / 2, side};
}

}  // namespace

TileGrid tile_grid(Size image, int across, int down) {
  const TileSide x = tiled(image.width, across), y = tiled(image.height, down);
  return {x.frame, y.frame, x.side, y.side};
}

WindowPlace window_place(const Node& node, Size input) {
  const bool cut = std::get<Window>(node.primitive).border == Border::absent;
  const Interval x = placed(node, 0, input.width, cut), y = placed(node, 4, input.height, cut);
  return {static_cast<std::int64_t>(x.from),
          static_cast<std::int64_t>(y.from),
          {static_cast<std::int64_t>(x.length), static_cast<std::int64_t>(y.length)}};
}

}  // namespace impipe
