// stdfilt and rangefilt: how much the values under a mask differ.
#include <algorithm>
#include <cstdlib>

#include "core/expression.hpp"
#include "core/moderate.hpp"
#include "ops/filter/correlate.hpp"
#include "ops/images.hpp"
#include "ops/morphology/element.hpp"

// Deviations are counted from a pixel of the window: squares of values far from 0 would drown what
// they differ by.
IMPIPE_STENCIL_BODY(deviation_3x3, (1, 1, 1, 1), (), {
  const real x = at(0, 0);
  const real nw = at(-1, -1) - x;
  const real n = at(0, -1) - x;
  const real ne = at(1, -1) - x;
  const real w = at(-1, 0) - x;
  const real e = at(1, 0) - x;
  const real sw = at(-1, 1) - x;
  const real s = at(0, 1) - x;
  const real se = at(1, 1) - x;
  const real m = (((nw + n) + (ne + w)) + ((e + sw) + (s + se))) / real(9);
  const real left = (nw - m) * (nw - m) + (w - m) * (w - m) + (sw - m) * (sw - m);
  const real middle = (n - m) * (n - m) + m * m + (s - m) * (s - m);
  const real right = (ne - m) * (ne - m) + (e - m) * (e - m) + (se - m) * (se - m);
  return sqrt((left + middle + right) / real(8));
})
// Of values counted from x, sums and sums of squares: their mean, and their squared deviations.
IMPIPE_POINT_BODY(mean_about, (x, sum), (values), { return x + over(sum, values); })
IMPIPE_POINT_BODY(squares_about_mean, (sum, squares), (values), {
  const real rest = squares - over(sum * sum, values);
  return rest < real(0) ? real(0) : rest;  // NaN stays
})
IMPIPE_POINT_BODY(deviation_of_squares, (squares), (values),
                  { return sqrt(squares / max(values - real(1), real(1))); })
// Within rows of `across` values, and between the means of the rows.
IMPIPE_POINT_BODY(deviation_of_rows, (within, between), (across, values),
                  { return sqrt((within + across * between) / max(values - real(1), real(1))); })
// The deviation by sums of whole numbers, without a rounding of differences that are small: what a
// product loses is added again. part: 1 / (values (values - 1)).
IMPIPE_POINT_BODY(offset_code, (x), (middle), { return x - middle; })
IMPIPE_POINT_BODY(offset_code_squared, (x), (middle), { return (x - middle) * (x - middle); })
IMPIPE_POINT_BODY(deviation_of_code_sums, (sum, squares), (values, part), {
  const real product = sum * sum;
  const real lost = fma(-sum, sum, product);
  return root((fma(values, squares, -product) + lost) * part);
})
IMPIPE_POINT_BODY(added_sums, (sum, part), (), { return sum + part; })
IMPIPE_POINT_BODY(range_of, (high, low), (), { return high - low; })
IMPIPE_POINT_BODY(either_not_both, (high, low), (), { return high > low ? real(1) : real(0); })

namespace impipe::ops {
namespace {

constexpr int max_terms = 124;      // of an expression that sums squares
constexpr int max_expressions = 4;  // some seconds of a compiler's time each
// Bytes counted from their middle: so many squares are a sum of at most 2^24, exact in float32.
constexpr int max_exact_bytes = 1024;
constexpr double middle_byte = 128;
constexpr Result numbers{.cls = PixelClass::single, .white = 0};

struct Offset {
  int dx = 0, dy = 0;
};

std::vector<Offset> offsets_of(const Mask& mask) {
  std::vector<Offset> out;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      if (mask.at(x, y)) out.push_back({x - mask.origin_x, y - mask.origin_y});
    }
  }
  return out;
}

std::string tap_text(Offset o) {
  return "at(" + std::to_string(o.dx) + "," + std::to_string(o.dy) + ")";
}

// The sum of the values under the mask counted from that at `from`, or of their squares; some
// hundred of them at a time.
ImageValue sum_about(PlanBuilder& plan, const ImageValue& image, const Mask& mask, Offset from,
                     bool squared) {
  const std::vector<Offset> all = offsets_of(mask);
  ImageValue sum;
  for (std::size_t first = 0; first < all.size(); first += max_terms) {
    const std::size_t end = std::min(first + max_terms, all.size());
    std::string text;
    for (std::size_t i = first; i < end; ++i) {
      const std::string difference = "(" + tap_text(all[i]) + "-" + tap_text(from) + ")";
      text += (text.empty() ? "" : "+") + difference + (squared ? "*" + difference : "");
    }
    const ImageValue part = plan.stencil(
        {.expression = std::make_shared<const Expression>(parse_expression(text, {.taps = true})),
         .taps = mask,
         .border = Border::symmetric},
        image, {}, numbers);
    sum = first == 0 ? part : plan.point(bodies::added_sums, {sum, part}, {}, numbers);
  }
  return sum;
}

// Squared deviations of the values under the mask from their mean, summed.
ImageValue squares_about_mean(PlanBuilder& plan, const ImageValue& image, const Mask& mask,
                              Offset from) {
  return plan.point(
      bodies::squares_about_mean,
      {sum_about(plan, image, mask, from, false), sum_about(plan, image, mask, from, true)},
      {static_cast<double>(mask.count())}, numbers);
}

// Rows first: squared deviations within each row of the window, and those of the rows' means.
ImageValue deviation_of_rectangle(PlanBuilder& plan, const ImageValue& image, const Mask& mask,
                                  Result result) {
  const Mask row = rectangle_element(1, mask.width), column = rectangle_element(mask.height, 1);
  const double across = mask.width, n = mask.count();
  const ImageValue means = plan.point(
      bodies::mean_about, {image, sum_about(plan, image, row, {}, false)}, {across}, numbers);
  const ImageValue within =
      correlate(plan, squares_about_mean(plan, image, row, {}),
                {mask.height, 1, std::vector<double>(static_cast<std::size_t>(mask.height), 1.0)},
                {.border = Border::symmetric, .result = numbers});
  return plan.point(bodies::deviation_of_rows,
                    {within, squares_about_mean(plan, means, column, {})}, {across, n}, result);
}

// By sums of codes and of their squares, which are exact whatever their order.
ImageValue deviation_of_bytes(PlanBuilder& plan, const ImageValue& image, const Mask& mask,
                              Result result) {
  const double n = mask.count();
  const double middle = image.type.cls == PixelClass::logical ? 0 : middle_byte;
  const Matrix ones{mask.height, mask.width, {mask.cells.begin(), mask.cells.end()}};
  const auto sum = [&](const PointBody& of) {
    return correlate(plan, plan.point(of, {image}, {middle}, numbers), ones,
                     {.border = Border::symmetric, .result = numbers, .whole = true});
  };
  return plan.point(bodies::deviation_of_code_sums,
                    {sum(bodies::offset_code), sum(bodies::offset_code_squared)},
                    {n, 1 / std::max(n * (n - 1), 1.0)}, result);
}

ImageValue lower_stdfilt(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const Mask mask = element_argument(call, "domain");
  const Result result{.cls = PixelClass::single, .white = image.type.white};
  if (mask.full() && mask.width == 3 && mask.height == 3) {
    return plan.stencil({.body = &bodies::deviation_3x3, .border = Border::symmetric}, image, {},
                        result);
  }
  const bool bytes = bytes_of(image.type.cls) == 1;
  if (bytes && (mask.full() || mask.count() > max_terms) && mask.count() <= max_exact_bytes) {
    return deviation_of_bytes(plan, image, mask, result);
  }
  const int most = mask.full() ? max_terms : bytes ? max_exact_bytes : max_expressions * max_terms;
  if ((mask.full() ? std::max(mask.width, mask.height) : mask.count()) > most) {
    const std::string shown = std::to_string(mask.height) + "x" + std::to_string(mask.width);
    call.fail("domain", mask.full()
                            ? "a rectangle has at most " + std::to_string(most) +
                                  " rows and columns here, not " + shown
                            : "a domain of " + std::string(name_of(image.type.cls)) +
                                  " has at most " + std::to_string(most) +
                                  " cells that are 1, unless it is a rectangle; this one has " +
                                  std::to_string(mask.count()));
  }
  if (mask.full()) return deviation_of_rectangle(plan, image, mask, result);
  const ImageValue squares = squares_about_mean(plan, image, mask, offsets_of(mask).front());
  return plan.point(bodies::deviation_of_squares, {squares}, {static_cast<double>(mask.count())},
                    result);
}

// The image with its mirror images as far around it as the mask reaches, or without them again.
ImageValue mirrored_around(PlanBuilder& plan, const ImageValue& image, const Footprint& f,
                           bool back) {
  const double sign = back ? -1 : 1;
  const std::vector<Arg> args{-sign * f.left, 0.0, sign * (f.left + f.right), 1.0,
                              -sign * f.up,   0.0, sign * (f.up + f.down),    1.0};
  return plan.window({.border = back ? Border::absent : Border::symmetric}, image, args);
}

// Whether each row and column of the mask is one run with its middle on the pixel: then it holds
// every pixel whose mirror image it reaches.
bool holds_mirror_images(const Mask& mask) {
  const auto reaches = [](int n, int origin, auto&& set) {
    int reach = -1;
    for (int k = 0; k < n; ++k) reach = set(k) ? std::max(reach, std::abs(k - origin)) : reach;
    for (int k = -reach; k <= reach; ++k) {
      if (origin + k < 0 || origin + k >= n || !set(origin + k)) return false;
    }
    return true;
  };
  for (int y = 0; y < mask.height; ++y) {
    if (!reaches(mask.width, mask.origin_x, [&](int x) { return mask.at(x, y); })) return false;
  }
  for (int x = 0; x < mask.width; ++x) {
    if (!reaches(mask.height, mask.origin_y, [&](int y) { return mask.at(x, y); })) return false;
  }
  return true;
}

ImageValue lower_rangefilt(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const Mask mask = element_argument(call, "domain");
  const PointBody& difference =
      image.type.cls == PixelClass::logical ? bodies::either_not_both : bodies::range_of;
  const auto range = [&](const ImageValue& x) {
    const ImageValue high = plan.extremum({.largest = true, .mask = mask}, x);
    const ImageValue low = plan.extremum({.largest = false, .mask = mask}, x);
    return plan.point(difference, {high, low}, {}, like(image));
  };
  if (mask.full() || holds_mirror_images(mask)) return range(image);  // needs no mirror
  const Footprint reach = mask.footprint();
  const ImageValue framed = mirrored_around(plan, image.without_alpha(), reach, false);
  return mirrored_around(plan, range(framed), reach, true).with_alpha(image.alpha);
}

Parameter domain() {
  return {.name = "domain",
          .help = "the mask: a 0/1 matrix, rectangle,m,n or another element, or @file",
          .takes = Takes::element,
          .fallback = "square,3"};
}

const RegisterOperator stdfilt_operator{{
    .name = "stdfilt",
    .help = "standard deviation of the values under a mask",
    .category = "filter",
    .parameters = {domain()},
    .details =
        "The sample's deviation (N - 1; one value: 0) under the cells of the domain that are 1,\n"
        "its cell floor((k-1)/2) on the output pixel, mirrored outside the image (edge included).\n"
        "In float32 about a pixel of the window, of bytes by exact sums; the result is single on "
        "the\n"
        "image's own scale and keeps its white.",
    .example = "stdfilt",
    .accuracy = "1e-5 of the largest value",
    .matlab = "stdfilt(A,nhood) (there in double)",
    .lower = lower_stdfilt,
}};

const RegisterOperator rangefilt_operator{{
    .name = "rangefilt",
    .help = "largest minus smallest value under a mask; the class stays",
    .category = "filter",
    .parameters = {domain()},
    .details =
        "max - min under the cells of the domain that are 1, its cell floor((k-1)/2) on the "
        "output\n"
        "pixel, mirrored outside the image (edge included). logical: whether both values occur.",
    .example = "rangefilt",
    .accuracy = "exact",
    .matlab = "rangefilt(A,nhood) (same)",
    .lower = lower_rangefilt,
}};

}  // namespace
}  // namespace impipe::ops
