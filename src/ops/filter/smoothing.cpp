// imbilatfilt, imguidedfilter and wiener2: filters that smooth what varies little.
#include <algorithm>
#include <cmath>

#include "core/moderate.hpp"
#include "ops/filter/correlate.hpp"
#include "ops/images.hpp"
#include "ops/statistics/mean.hpp"

// near_by: -1 / (2 sigma^2); alike: -1 / (2 smoothing). LAST: the pixels that are read on each
// side.
#define IMPIPE_BILATERAL_BODY(NAME, FOOTPRINT, PARAMETERS, LAST) \
  IMPIPE_WEIGHTED_MEAN_BODY(NAME, FOOTPRINT, PARAMETERS, LAST,   \
                            exp(fma(apart* apart, alike, (real)(dx * dx + dy * dy) * near_by)))
// Small squares, whose loops are unrolled so that registers hold the window.
IMPIPE_BILATERAL_BODY(bilateral_3x3, (1, 1, 1, 1), (near_by, alike), 1)
IMPIPE_BILATERAL_BODY(bilateral_5x5, (2, 2, 2, 2), (near_by, alike), 2)
IMPIPE_BILATERAL_BODY(bilateral_7x7, (3, 3, 3, 3), (near_by, alike), 3)
IMPIPE_BILATERAL_BODY(bilateral_9x9, (4, 4, 4, 4), (near_by, alike), 4)
// Others: a body a reach up to which its window is kept ready.
IMPIPE_BILATERAL_BODY(bilateral_5, (5, 5, 5, 5), (near_by, alike, reach), (int)reach)
IMPIPE_BILATERAL_BODY(bilateral_12, (12, 12, 12, 12), (near_by, alike, reach), (int)reach)
IMPIPE_BILATERAL_BODY(bilateral_32, (32, 32, 32, 32), (near_by, alike, reach), (int)reach)

IMPIPE_POINT_BODY(counted_from, (x), (middle), { return x - middle; })
IMPIPE_POINT_BODY(product_of, (x, y), (), { return x * y; })

// Of box sums, of guide g and image p counted from `middle`: the line a g + b nearest to p.
IMPIPE_POINT_BODY(guided_slope, (g, p, gg, gp), (cells, smoothing), {
  const real mean = g / cells;
  return (gp / cells - mean * (p / cells)) / (gg / cells - mean * mean + smoothing);
})
IMPIPE_POINT_BODY(guided_offset, (g, p, a), (cells), { return p / cells - a * (g / cells); })
IMPIPE_POINT_BODY(guided_line, (g, b, a), (cells, middle, guide_middle),
                  { return a / cells * (g - guide_middle) + b / cells + middle; })

// The same of bytes, in float32: sums are whole numbers, whose products lose nothing when they are
// subtracted. flat: smoothing cells^2; part: 1 / cells.
IMPIPE_POINT_BODY(counted_squared, (x), (middle), { return (x - middle) * (x - middle); })
IMPIPE_POINT_BODY(guided_slope_of_bytes, (g, gg), (cells, flat), {
  const real square = g * g;
  const real lost = fma(-g, g, square);
  const real variance = fma(cells, gg, -square) + lost;
  return quotient(variance, variance + flat);
})
IMPIPE_POINT_BODY(guided_slope_of_guide, (g, p, gg, gp), (cells, flat), {
  const real square = g * g;
  const real lost = fma(-g, g, square);
  const real product = g * p;
  const real lost_of_product = fma(-g, p, product);
  const real covariance = fma(cells, gp, -product) + lost_of_product;
  return quotient(covariance, (fma(cells, gg, -square) + lost) + flat);
})
IMPIPE_POINT_BODY(guided_offset_of_bytes, (g, p, a), (part), { return fma(-a, g, p) * part; })
IMPIPE_POINT_BODY(guided_line_of_bytes, (g, b, a), (part, middle, guide_middle),
                  { return fma(a * part, g - guide_middle, b * part) + middle; })

// Of box sums of x and its square.
IMPIPE_POINT_BODY(box_mean, (sum), (cells), { return sum / cells; })
IMPIPE_POINT_BODY(box_variance, (sum, squares), (cells), {
  const real mean = sum / cells;
  return squares / cells - mean * mean;
})
IMPIPE_POINT_BODY(wiener2, (x, mean, variance), (noise), {
  const real most = max(variance, noise);
  const real kept = variance - noise > real(0) ? variance - noise : real(0);
  return most > real(0) ? mean + kept / most * (x - mean) : mean;
})

namespace impipe::ops {
namespace {

constexpr Result numbers{.cls = PixelClass::single, .white = 0};
// Of a box: sums of so many products of bytes counted from their middle are at most 2^24.
constexpr double max_exact_cells = 1024;

struct Bilateral {
  int reach;
  const StencilBody& body;
};
constexpr Bilateral bilaterals[] = {
    {5, bodies::bilateral_5}, {12, bodies::bilateral_12}, {32, bodies::bilateral_32}};

ImageValue lower_imbilatfilt(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const double white = image.type.white;
  if (!call.has("smoothing")) need_white(call, image);
  const double smoothing = call.has("smoothing") ? call.number("smoothing") : 0.01 * white * white;
  const double sigma = call.number("sigma");
  const int side = call.has("size") ? static_cast<int>(call.number("size"))
                                    : 2 * static_cast<int>(std::ceil(2 * sigma)) + 1;
  const int reach = side / 2;
  const auto filtered = [&](const StencilBody& body, std::vector<Arg> weights) {
    return plan.stencil({.body = &body, .border = Border::replicate}, image, std::move(weights),
                        like(image));
  };
  const double near_by = -1 / (2 * sigma * sigma), alike = -1 / (2 * smoothing);
  if (reach == 1) return filtered(bodies::bilateral_3x3, {near_by, alike});
  if (reach == 2) return filtered(bodies::bilateral_5x5, {near_by, alike});
  if (reach == 3) return filtered(bodies::bilateral_7x7, {near_by, alike});
  if (reach == 4) return filtered(bodies::bilateral_9x9, {near_by, alike});
  const Bilateral* which = bilaterals;
  while (which->reach < reach) ++which;
  return filtered(which->body, {near_by, alike, static_cast<double>(reach)});
}

struct Box {
  int rows = 0, columns = 0;
  double cells() const { return static_cast<double>(rows) * columns; }
};

Box box_of(const Call& call) {
  const std::vector<double>& size = call.numbers("size");
  return {static_cast<int>(size.front()), static_cast<int>(size.back())};
}

// Sums, which are exact for whole numbers up to 2^24: of `whole` ones in any order.
ImageValue box_sum(PlanBuilder& plan, const ImageValue& image, Box box, Border border,
                   bool whole = false) {
  const Matrix ones{box.rows, box.columns,
                    std::vector<double>(static_cast<std::size_t>(box.rows * box.columns), 1.0)};
  return correlate(plan, image, ones, {.border = border, .result = numbers, .whole = whole});
}

ImageValue point_in_double(PlanBuilder& plan, const PointBody& body,
                           const std::vector<ImageValue>& images, const std::vector<Arg>& args,
                           Result result) {
  return plan.point(Point{.body = &body, .in_double = true}, images, args, result);
}

// About the middle of the range: variances are differences of squares.
double middle_of(const ImageValue& image) {
  const double half = image.type.white / 2;
  return is_integer(image.type.cls) ? std::ceil(half) : half;
}

ImageValue guide_of(const Call& call, PlanBuilder& plan, const ImageValue& image) {
  if (!call.has("guide")) return image;
  const std::string& name = call.value("guide").operands.front();
  const ImageValue guide = plan.operand(call, name);
  if (guide.type.channels != 1 && guide.type.channels != image.type.channels) {
    call.fail("guide", "the image has " + std::to_string(image.type.channels) +
                           " channel and the guide " + std::to_string(guide.type.channels) +
                           "; a guide is gray or has as many");
  }
  return guide;
}

// Of bytes: sums of their products are whole numbers of at most 2^24.
struct GuidedBytes {
  Box box;
  double middle, guide_middle, smoothing;
};
ImageValue guided_bytes(PlanBuilder& plan, const ImageValue& image, const ImageValue& guide,
                        bool own_guide, const GuidedBytes& how) {
  const double cells = how.box.cells(), part = 1 / cells, flat = how.smoothing * cells * cells;
  const auto sum = [&](const ImageValue& x, bool whole) {
    return box_sum(plan, x, how.box, Border::replicate, whole);
  };
  Result coefficients = numbers;
  coefficients.channels = image.type.channels;
  const ImageValue g = plan.point(bodies::counted_from, {guide}, {how.guide_middle}, numbers);
  const ImageValue squares =
      plan.point(bodies::counted_squared, {guide}, {how.guide_middle}, numbers);
  const ImageValue sum_g = sum(g, true), sum_gg = sum(squares, true);
  ImageValue sum_p = sum_g, a;
  if (own_guide) {
    a = plan.point(bodies::guided_slope_of_bytes, {sum_g, sum_gg}, {cells, flat}, coefficients);
  } else {
    const ImageValue p = plan.point(bodies::counted_from, {image}, {how.middle}, numbers);
    sum_p = sum(p, true);
    const ImageValue gp = plan.point(bodies::product_of, {p, g}, {}, coefficients);
    a = plan.point(bodies::guided_slope_of_guide, {sum_g, sum_p, sum_gg, sum(gp, true)},
                   {cells, flat}, coefficients);
  }
  const ImageValue b =
      plan.point(bodies::guided_offset_of_bytes, {sum_g, sum_p, a}, {part}, coefficients);
  Result result = like(image);
  result.channels = image.type.channels;
  return plan.point(bodies::guided_line_of_bytes, {guide, sum(b, false), sum(a, false)},
                    {part, how.middle, how.guide_middle}, result);
}

ImageValue lower_imguidedfilter(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const ImageValue guide = guide_of(call, plan, image);
  if (!call.has("smoothing")) need_white(call, guide);
  const double white = guide.type.white;
  const double smoothing = call.has("smoothing") ? call.number("smoothing") : 0.01 * white * white;
  const Box box = box_of(call);
  const double middle = middle_of(image), guide_middle = middle_of(guide), cells = box.cells();
  if (bytes_of(image.type.cls) == 1 && bytes_of(guide.type.cls) == 1 && cells <= max_exact_cells) {
    return guided_bytes(plan, image, guide, !call.has("guide"),
                        {box, middle, guide_middle, smoothing})
        .with_alpha(image.alpha);
  }
  const auto sum = [&](const ImageValue& x) { return box_sum(plan, x, box, Border::replicate); };
  const auto product = [&](const ImageValue& x, const ImageValue& y) {
    Result result = numbers;
    result.channels = std::max(x.type.channels, y.type.channels);
    return plan.point(bodies::product_of, {x, y}, {}, result);
  };
  const ImageValue p = plan.point(bodies::counted_from, {image}, {middle}, numbers);
  const ImageValue g = plan.point(bodies::counted_from, {guide}, {guide_middle}, numbers);
  const ImageValue sum_g = sum(g), sum_p = sum(p);
  Result coefficients = numbers;
  coefficients.channels = image.type.channels;
  const ImageValue a = point_in_double(plan, bodies::guided_slope,
                                       {sum_g, sum_p, sum(product(g, g)), sum(product(g, p))},
                                       {cells, smoothing}, coefficients);
  const ImageValue b =
      point_in_double(plan, bodies::guided_offset, {sum_g, sum_p, a}, {cells}, coefficients);
  Result result = like(image);
  result.channels = image.type.channels;
  return point_in_double(plan, bodies::guided_line, {guide, sum(b), sum(a)},
                         {cells, middle, guide_middle}, result)
      .with_alpha(image.alpha);
}

ImageValue lower_wiener2(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const Box box = box_of(call);
  const ImageValue squares = plan.point(bodies::counted_squared, {image}, {0.0}, numbers);
  const bool whole = bytes_of(image.type.cls) == 1 && box.cells() <= 256;  // 2^24 at most
  const ImageValue sums = box_sum(plan, image, box, Border::constant, whole);
  const ImageValue square_sums = box_sum(plan, squares, box, Border::constant, whole);
  const ImageValue mean = point_in_double(plan, bodies::box_mean, {sums}, {box.cells()}, numbers);
  const ImageValue variance =
      point_in_double(plan, bodies::box_variance, {sums, square_sums}, {box.cells()}, numbers);
  Arg noise = 0.0;
  if (call.numbers("noise").empty()) {
    const MeasureValue total = plan.reduce({.kind = ReduceKind::sum}, variance, {});
    const int channels = image.type.channels;
    noise = Arg::per_channel(mean_of_sums(plan, total, channels), 0);
  } else {
    need_white(call, image);
    noise = call.number("noise") * image.type.white * image.type.white;
  }
  return point_in_double(plan, bodies::wiener2, {image, mean, variance}, {noise}, like(image));
}

const RegisterOperator imbilatfilt_operator{{
    .name = "imbilatfilt",
    .help = "bilateral filter: mean of the near pixels that look alike",
    .category = "filter",
    .parameters = {{.name = "smoothing",
                    .help = "variance of the values that count as alike, in the image's own units "
                            "squared; 0.01 white^2 when not given",
                    .max_numbers = 1,
                    .low = 1e-12,
                    .high = 1e12},
                   {.name = "sigma",
                    .letter = 's',
                    .help = "standard deviation of the distances, in pixels",
                    .max_numbers = 1,
                    .low = 0.01,
                    .high = 16,
                    .fallback = "1"},
                   {.name = "size",
                    .letter = 'k',
                    .help = "side of the square; 2 ceil(2 sigma) + 1 when not given",
                    .max_numbers = 1,
                    .integer = true,
                    .odd = true,
                    .low = 1,
                    .high = 65}},
    .classes = no_logical,
    .details =
        "sum w x / sum w over a square, w = exp(-d^2 / (2 sigma^2)) exp(-(x - centre)^2 / (2\n"
        "smoothing)), the nearest pixel outside the image. Each channel by itself, in float32;\n"
        "rounded and saturated. NaN spreads.",
    .example = "imbilatfilt 800",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-5 of white",
    .matlab = "imbilatfilt(A,smoothing,sigma) (there one weight for all channels)",
    .lower = lower_imbilatfilt,
}};

Parameter box_size(std::string_view fallback) {
  return {.name = "size",
          .letter = 'k',
          .help = "rows,columns of the box; one number: a square",
          .max_numbers = 2,
          .integer = true,
          .low = 1,
          .high = 255,
          .fallback = fallback};
}

const RegisterOperator imguidedfilter_operator{{
    .name = "imguidedfilter",
    .help = "smoothing that keeps the edges of a guide",
    .category = "filter",
    .parameters = {{.name = "guide",
                    .help = "the image (:name) whose edges stay, gray or with as many channels; "
                            "the image itself when not given",
                    .takes = Takes::operand},
                   box_size("5,5"),
                   {.name = "smoothing",
                    .help = "variance of the guide that counts as flat, in its own units squared; "
                            "0.01 of its white^2 when not given",
                    .max_numbers = 1,
                    .low = 1e-12,
                    .high = 1e12}},
    .classes = no_logical,
    .details =
        "Means over boxes, the nearest pixel outside: a = (E[gp] - E[g] E[p]) / (E[g^2] - E[g]^2\n"
        "+ smoothing), b = E[p] - a E[g]; the result is E[a] g + E[b]. Each channel by itself, a\n"
        "gray guide for all. Sums in float32 about the middle of the range (exact for uint8 up to\n"
        "32x32, and the rest in float32 then), the rest in double.",
    .example = "imguidedfilter 9",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-4 of white",
    .matlab = "imguidedfilter(A,G) (there the covariance of all channels of a colour guide)",
    .lower = lower_imguidedfilter,
}};

const RegisterOperator wiener2_operator{{
    .name = "wiener2",
    .help = "Wiener's filter: smooths where the variance is that of the noise",
    .category = "filter",
    .parameters = {box_size("3,3"),
                   {.name = "noise",
                    .help = "the noise's variance on the unit scale; auto: the mean variance",
                    .max_numbers = 1,
                    .low = 0,
                    .high = 1e6,
                    .words = {"auto"},
                    .fallback = "auto"}},
    .classes = no_logical,
    .details =
        "Mean m and variance v = E[x^2] - m^2 over a box, zeros outside the image;\n"
        "m + max(0, v - noise) / max(v, noise) (x - m), and m where both are 0. Sums in float32\n"
        "(exact for uint8 up to 16x16), the rest in double; rounded and saturated.",
    .example = "wiener2 5",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-4 of white",
    .matlab = "wiener2(A,[m n],noise) (same; where v and noise are 0 Octave has NaN)",
    .lower = lower_wiener2,
}};

}  // namespace
}  // namespace impipe::ops
