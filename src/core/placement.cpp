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

namespace impipe {
namespace {

// An interval of pixels, of which `cut` leaves what lies in [0, n).
struct Interval {
  double from = 0, length = 0;
};

Interval placed(const Node& node, int first, std::int64_t n, bool cut) {
  const auto sum = [&](int index) {
    return node.arguments.at(static_cast<std::size_t>(first + index)).value +
           node.arguments.at(static_cast<std::size_t>(first + index + 1)).value *
               static_cast<double>(n);
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

// size, scale: 0 when not given; other: the other direction's size over its input, 0 when not
// given.
ResizeAxis axis_of(const Resample& resample, std::int64_t from, double size, double scale,
                   double other_size, std::int64_t other_from) {
  const double n = static_cast<double>(from);
  ResizeAxis axis{.from = from, .scale = scale};
  if (size > 0) {
    axis.scale = size / n;
  } else if (other_size > 0) {
    axis.scale = other_size / static_cast<double>(other_from);
    size = std::ceil(n * other_size / static_cast<double>(other_from));
  } else {
    size = std::ceil(scale * n);
  }
  axis.to = static_cast<std::int64_t>(size);
  axis.copies = resample.method == Resample::Method::nearest || axis.scale == 1;
  if (axis.copies) return axis;
  if (resample.antialias) axis.narrow = std::min(axis.scale, 1.0);
  const double width = resample.method == Resample::Method::bicubic ? 4 : 2;
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

}  // namespace

const PointBody& resize_first_body() { return bodies::resize_first; }
const PointBody& resize_copied_body() { return bodies::resize_copied; }
const PointBody& resize_weight_body(Resample::Method method) {
  return method == Resample::Method::bicubic ? bodies::resize_cubic : bodies::resize_triangle;
}

ResizeAxes resize_axes(const Node& node, Size input) {
  const Resample& resample = std::get<Resample>(node.primitive);
  double width = argument(node, 0), height = argument(node, 1);
  if (width < 0) {  // less than 0 are the sides of a box: the side that reaches it first, and the
                    // other from that
    const double w = static_cast<double>(input.width), h = static_cast<double>(input.height);
    const bool across = -width * h <= -height * w;
    width = across ? -width : 0;
    height = across ? 0 : -height;
  }
  return {axis_of(resample, input.width, width, argument(node, 2), height, input.height),
          axis_of(resample, input.height, height, argument(node, 3), width, input.width)};
}

Size resampled_size(const Node& node, Size input) {
  if (std::get<Resample>(node.primitive).kind == Resample::Kind::resize) {
    const ResizeAxes axes = resize_axes(node, input);
    return {axes.x.to, axes.y.to};
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
    const std::vector<double> weights =
        evaluated(resize_weight_body(method), k, tap,
                  {axis.scale, axis.narrow, static_cast<double>(axis.before)});
    out.weights.insert(out.weights.end(), weights.begin(), weights.end());
  }
  return out;
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

WindowPlace window_place(const Node& node, Size input) {
  const bool cut = std::get<Window>(node.primitive).border == Border::absent;
  const Interval x = placed(node, 0, input.width, cut), y = placed(node, 4, input.height, cut);
  return {static_cast<std::int64_t>(x.from),
          static_cast<std::int64_t>(y.from),
          {static_cast<std::int64_t>(x.length), static_cast<std::int64_t>(y.length)}};
}

}  // namespace impipe
