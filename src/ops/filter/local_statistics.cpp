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
#define IMPIPE_DEVIATION_BODY(NAME, MEAN, ROOT)                                       \
  IMPIPE_STENCIL_BODY(NAME, (1, 1, 1, 1), (), {                                       \
    const real x = at(0, 0);                                                          \
    const real nw = at(-1, -1) - x;                                                   \
    const real n = at(0, -1) - x;                                                     \
    const real ne = at(1, -1) - x;                                                    \
    const real w = at(-1, 0) - x;                                                     \
    const real e = at(1, 0) - x;                                                      \
    const real sw = at(-1, 1) - x;                                                    \
    const real s = at(0, 1) - x;                                                      \
    const real se = at(1, 1) - x;                                                     \
    const real sum = ((nw + n) + (ne + w)) + ((e + sw) + (s + se));                   \
    const real m = MEAN;                                                              \
    const real left = (nw - m) * (nw - m) + (w - m) * (w - m) + (sw - m) * (sw - m);  \
    const real middle = (n - m) * (n - m) + m * m + (s - m) * (s - m);                \
    const real right = (ne - m) * (ne - m) + (e - m) * (e - m) + (se - m) * (se - m); \
    const real squares = left + middle + right;                                       \
    return ROOT;                                                                      \
  })
IMPIPE_DEVIATION_BODY(deviation_3x3, sum / real(9), sqrt(squares / real(8)))
// Of codes, whose differences are moderate.
IMPIPE_DEVIATION_BODY(deviation_of_codes_3x3, quotient(sum, real(9)), root(squares* real(0.125)))
// The deviation by sums of whole numbers, without a rounding of differences that are small: what a
// product loses is added again. part: 1 / (values (values - 1)).
IMPIPE_POINT_BODY(offset_code, (x), (middle), { return x - middle; })
IMPIPE_POINT_BODY(offset_code_squared, (x), (middle), { return (x - middle) * (x - middle); })
IMPIPE_POINT_BODY(deviation_of_code_sums, (sum, squares), (values, part), {
  const real product = sum * sum;
  const real lost = fma(-sum, sum, product);
  return root((fma(values, squares, -product) + lost) * part);
})
IMPIPE_POINT_BODY(range_of, (high, low), (), { return high - low; })
IMPIPE_POINT_BODY(either_not_both, (high, low), (), { return high > low ? real(1) : real(0); })

namespace impipe::ops {
namespace {

// Bytes counted from their middle: squares of 1024 are a sum of at most 2^24, exact in float32. Of
// larger sides, and lines, exact sums take longer than others.
constexpr int min_exact_side = 2, max_exact_side = 31;
constexpr double middle_byte = 128;
constexpr int max_cells = 65535;

// By sums of codes and of their squares, which are exact whatever their order.
ImageValue deviation_of_bytes(PlanBuilder& plan, const ImageValue& image, const Mask& mask,
                              Result result) {
  const double n = mask.count();
  const double middle = image.type.cls == PixelClass::logical ? 0 : middle_byte;
  const Matrix ones{mask.height, mask.width, {mask.cells.begin(), mask.cells.end()}};
  const auto sum = [&](const PointBody& of) {
    return correlate(plan, plan.point(of, {image}, {middle}, single_result), ones,
                     {.border = Border::symmetric, .result = single_result, .whole = true});
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
    const StencilBody& body =
        is_integer(image.type.cls) ? bodies::deviation_of_codes_3x3 : bodies::deviation_3x3;
    return plan.stencil({.body = &body, .border = Border::symmetric}, image, {}, result);
  }
  const int cells = mask.count();
  const auto [least, most] = std::minmax(mask.width, mask.height);
  if (bytes_of(image.type.cls) == 1 && mask.full() && least >= min_exact_side &&
      most <= max_exact_side) {
    return deviation_of_bytes(plan, image, mask, result);
  }
  if (cells > max_cells) {
    call.fail("domain", "a domain has at most " + std::to_string(max_cells) +
                            " cells that are 1, this one has " + std::to_string(cells));
  }
  return plan.whole(Moments{mask}, {image}, {}, result).with_alpha(image.alpha);
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
    .parameters = {domain()},
    .details =
        "The sample's deviation (N - 1; one value: 0) under the cells of the domain that are 1,\n"
        "its cell floor((k-1)/2) on the output pixel, mirrored outside the image (edge included).\n"
        "In float32, counted from a value of the window, of bytes under rectangles of 2x2 to "
        "31x31\n"
        "by exact sums; the result is single on the image's own scale and keeps its white.",
    .example = "stdfilt",
    .accuracy = "1e-5 of the largest value",
    .not_finite = {NotFinite::Rule::spread},
    .matlab = "stdfilt(A,nhood) (there in double)",
    .lower = lower_stdfilt,
}};

const RegisterOperator rangefilt_operator{{
    .name = "rangefilt",
    .help = "largest minus smallest value under a mask; the class stays",
    .parameters = {domain()},
    .details =
        "max - min under the cells of the domain that are 1, its cell floor((k-1)/2) on the "
        "output\n"
        "pixel, mirrored outside the image (edge included). logical: whether both values occur.",
    .example = "rangefilt",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::left_out,
                   "Inf is a value like others, differences of it by IEEE 754"},
    .matlab = "rangefilt(A,nhood) (same)",
    .lower = lower_rangefilt,
}};

}  // namespace
}  // namespace impipe::ops
