// imbilatfilt, imguidedfilter and wiener2: filters that smooth what varies little.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/moderate.hpp"
#include "ops/filter/correlate.hpp"
#include "ops/images.hpp"
#include "ops/morphology/element.hpp"
#include "ops/statistics/finite.hpp"
#include "ops/statistics/mean.hpp"

// near_by: -log2(e) / (2 sigma^2); alike: -log2(e) / (2 smoothing). LAST: the pixels that are read
// on each side.
#define IMPIPE_BILATERAL_BODY(MEAN_BODY, NAME, FOOTPRINT, PARAMETERS, LAST) \
  MEAN_BODY(NAME, FOOTPRINT, PARAMETERS, LAST,                              \
            exp2_below_0(fma(apart* apart, alike, (real)(dx * dx + dy * dy) * near_by)))
// Small squares, whose loops are unrolled so that registers hold the window.
IMPIPE_BILATERAL_BODY(IMPIPE_SQUARE_MEAN_BODY, bilateral_3x3, (1, 1, 1, 1), (near_by, alike), 1)
IMPIPE_BILATERAL_BODY(IMPIPE_SQUARE_MEAN_BODY, bilateral_5x5, (2, 2, 2, 2), (near_by, alike), 2)
IMPIPE_BILATERAL_BODY(IMPIPE_SQUARE_MEAN_BODY, bilateral_7x7, (3, 3, 3, 3), (near_by, alike), 3)
IMPIPE_BILATERAL_BODY(IMPIPE_SQUARE_MEAN_BODY, bilateral_9x9, (4, 4, 4, 4), (near_by, alike), 4)
// Others: a body a reach up to which its window is kept ready.
IMPIPE_BILATERAL_BODY(IMPIPE_WEIGHTED_MEAN_BODY, bilateral_5, (5, 5, 5, 5), (near_by, alike, reach),
                      (int)reach)
IMPIPE_BILATERAL_BODY(IMPIPE_WEIGHTED_MEAN_BODY, bilateral_12, (12, 12, 12, 12),
                      (near_by, alike, reach), (int)reach)
IMPIPE_BILATERAL_BODY(IMPIPE_WEIGHTED_MEAN_BODY, bilateral_32, (32, 32, 32, 32),
                      (near_by, alike, reach), (int)reach)

IMPIPE_POINT_BODY(counted_from, (x), (middle), { return x - middle; })
IMPIPE_POINT_BODY(product_of, (x, y), (), { return x * y; })

// Of box sums of bytes, of guide g and image p counted from their middles: the line a g + b nearest
// to p. A product of sums rounds, and what it loses is added again, so that differences are right
// in float32. scale: a power of two, which keeps products of sums in their range; cells: theirs,
// times scale; flat: smoothing cells^2; part: 1 / cells.
IMPIPE_POINT_BODY(slope_of_sums_of_itself, (g, gg), (cells, scale, flat), {
  const real sum = g * scale;
  const real square = sum * sum;
  const real lost = fma(-sum, sum, square);
  const real covariance = fma(cells, gg * scale, -square) + lost;
  const real level = covariance + flat;
  return quotient(covariance, level);
})
IMPIPE_POINT_BODY(slope_of_sums, (g, p, gg, gp), (cells, scale, flat), {
  const real sum = g * scale;
  const real other = p * scale;
  const real square = sum * sum;
  const real lost = fma(-sum, sum, square);
  const real product = sum * other;
  const real lost_of_product = fma(-sum, other, product);
  const real covariance = fma(cells, gp * scale, -product) + lost_of_product;
  const real level = (fma(cells, gg * scale, -square) + lost) + flat;
  return quotient(covariance, level);
})
IMPIPE_POINT_BODY(counted_squared, (x), (middle), { return (x - middle) * (x - middle); })
IMPIPE_POINT_BODY(guided_offset, (g, p, a), (part), { return fma(-a, g, p) * part; })
IMPIPE_POINT_BODY(guided_line, (g, b, a), (part, middle, guide_middle),
                  { return fma(a * part, g - guide_middle, b * part) + middle; })
// The same of means, variances and covariances.
IMPIPE_POINT_BODY(slope_of_variance, (variance), (smoothing),
                  { return variance / (variance + smoothing); })
IMPIPE_POINT_BODY(slope_of_covariance, (covariance, variance), (smoothing),
                  { return covariance / (variance + smoothing); })
IMPIPE_POINT_BODY(offset_of_means, (g, p, a), (middle, guide_middle),
                  { return fma(-a, g - guide_middle, p - middle); })
IMPIPE_POINT_BODY(line_of_means, (g, b, a), (middle, guide_middle),
                  { return fma(a, g - guide_middle, b) + middle; })

// Of box sums of x and its square, as above. part: 1 / cells^2.
IMPIPE_POINT_BODY(box_variance, (sum, squares), (cells, scale, part), {
  const real scaled = sum * scale;
  const real square = scaled * scaled;
  const real lost = fma(-scaled, scaled, square);
  return (fma(cells, squares * scale, -square) + lost) * part;
})
// The same of 16 bits, whose squares are whole numbers below 2^32, summed in two parts.
IMPIPE_POINT_BODY(high_part_of_square, (x), (), { return floor(x * x * real(1.52587890625e-5)); })
IMPIPE_POINT_BODY(low_part_of_square, (x), (),
                  { return fma(x, x, -floor(x * x * real(1.52587890625e-5)) * real(65536)); })
IMPIPE_POINT_BODY(box_variance_of_parts, (sum, high, low), (cells, part), {
  const real square = sum * sum;
  const real lost = fma(-sum, sum, square);
  const real most = cells * high;
  const real rest = fma(cells, high, -most);
  return (fma(most, real(65536), -square) + (fma(rest, real(65536), lost) + cells * low)) * part;
})
IMPIPE_POINT_BODY(wiener2, (x, mean, variance), (noise), {
  const real part = variance > noise ? noise / variance : real(1);
  return x + part * (mean - x);
})
// Of codes, counted from the pixel's own: sums, and their differences from `cells` pixels, are
// exact.
IMPIPE_POINT_BODY(wiener2_of_codes, (x, sum, variance), (noise, cells), {
  const real part = variance > noise ? noise / variance : real(1);
  return x + floor(part * quotient(fma(-cells, x, sum), cells) + real(0.5));
})

namespace impipe::ops {
namespace {

// Of a box: sums of so many products of bytes counted from their middle are at most 2^24.
constexpr double max_exact_cells = 1024;
// Of sums of codes, and of their squares or of both parts of these.
constexpr double max_exact_codes = 256;

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
  const double near_by = -std::numbers::log2e / (2 * sigma * sigma);
  const double alike = -std::numbers::log2e / (2 * smoothing);
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
  // The power of two that takes `cells` to between a half and 1.
  double scale() const { return std::exp2(-std::ceil(std::log2(cells()))); }
  double scaled_cells() const { return cells() * scale(); }
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
  return correlate(plan, image, ones, {.border = border, .result = single_result, .whole = whole});
}

// What is under a box, counted from a value of it.
ImageValue box_moment(PlanBuilder& plan, Moments::Of what, std::vector<ImageValue> images, Box box,
                      Border border, Result result) {
  const Moments moment{
      .mask = rectangle_element(box.rows, box.columns), .of = what, .border = border};
  return plan.whole(moment, std::move(images), {}, result);
}

// The middle of the range, from which numbers are counted.
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

// What a guided filter is made of.
struct Guided {
  ImageValue image, guide;
  bool by_itself;  // the guide is the image
  Box box;
  double smoothing;
  double middle() const { return middle_of(image); }
  double guide_middle() const { return middle_of(guide); }
  Result coefficients() const {
    Result out = single_result;
    out.channels = image.type.channels;
    return out;
  }
  Result result() const {
    Result out = like(image);
    out.channels = image.type.channels;
    return out;
  }
};

// By sums of products of bytes, which are whole numbers of at most 2^24.
ImageValue guided_by_sums(PlanBuilder& plan, const Guided& of) {
  const Box box = of.box;
  const double scaled = box.scaled_cells(), part = 1 / box.cells();
  const auto sum = [&](const ImageValue& x) {
    return box_sum(plan, x, box, Border::replicate, true);
  };
  const ImageValue g =
      plan.point(bodies::counted_from, {of.guide}, {of.guide_middle()}, single_result);
  const ImageValue sum_g = sum(g);
  const ImageValue sum_gg =
      sum(plan.point(bodies::counted_squared, {of.guide}, {of.guide_middle()}, single_result));
  const std::vector<Arg> args{scaled, box.scale(), of.smoothing * scaled * scaled};
  ImageValue sum_p = sum_g, a;
  if (of.by_itself) {
    a = plan.point(bodies::slope_of_sums_of_itself, {sum_g, sum_gg}, args, of.coefficients());
  } else {
    const ImageValue p = plan.point(bodies::counted_from, {of.image}, {of.middle()}, single_result);
    sum_p = sum(p);
    const ImageValue sum_gp = sum(plan.point(bodies::product_of, {p, g}, {}, of.coefficients()));
    a = plan.point(bodies::slope_of_sums, {sum_g, sum_p, sum_gg, sum_gp}, args, of.coefficients());
  }
  const ImageValue b =
      plan.point(bodies::guided_offset, {sum_g, sum_p, a}, {part}, of.coefficients());
  const auto mean_sum = [&](const ImageValue& x) {
    return box_sum(plan, x, box, Border::replicate);
  };
  return plan.point(bodies::guided_line, {of.guide, mean_sum(b), mean_sum(a)},
                    {part, of.middle(), of.guide_middle()}, of.result());
}

// By means and covariances counted from a value of each window.
ImageValue guided_by_moments(PlanBuilder& plan, const Guided& of) {
  using Of = Moments::Of;
  const auto moment = [&](Of what, std::vector<ImageValue> images, Result result = single_result) {
    return box_moment(plan, what, std::move(images), of.box, Border::replicate, result);
  };
  const ImageValue variance = moment(Of::variance, {of.guide});
  const ImageValue mean_g = moment(Of::mean, {of.guide});
  ImageValue mean_p = mean_g, a;
  if (of.by_itself) {
    a = plan.point(bodies::slope_of_variance, {variance}, {of.smoothing}, of.coefficients());
  } else {
    mean_p = moment(Of::mean, {of.image});
    const ImageValue covariance = moment(Of::covariance, {of.guide, of.image}, of.coefficients());
    a = plan.point(bodies::slope_of_covariance, {covariance, variance}, {of.smoothing},
                   of.coefficients());
  }
  const std::vector<Arg> middles{of.middle(), of.guide_middle()};
  const ImageValue b =
      plan.point(bodies::offset_of_means, {mean_g, mean_p, a}, middles, of.coefficients());
  return plan.point(bodies::line_of_means, {of.guide, moment(Of::mean, {b}), moment(Of::mean, {a})},
                    middles, of.result());
}

ImageValue lower_imguidedfilter(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const ImageValue guide = guide_of(call, plan, image);
  if (!call.has("smoothing")) need_white(call, guide);
  const double white = guide.type.white;
  const Guided of{
      .image = image,
      .guide = guide,
      .by_itself = !call.has("guide"),
      .box = box_of(call),
      .smoothing = call.has("smoothing") ? call.number("smoothing") : 0.01 * white * white};
  const bool exact = bytes_of(image.type.cls) == 1 && bytes_of(guide.type.cls) == 1 &&
                     of.box.cells() <= max_exact_cells;
  const ImageValue result = exact ? guided_by_sums(plan, of) : guided_by_moments(plan, of);
  return result.with_alpha(image.alpha);
}

// The variance of codes under a box, by the sums of them: exact, as sums are.
ImageValue variance_by_sums(PlanBuilder& plan, const ImageValue& image, const ImageValue& sums,
                            Box box) {
  const double cells = box.cells();
  const auto sum_of = [&](const PointBody& body, std::vector<Arg> args) {
    return box_sum(plan, plan.point(body, {image}, std::move(args), single_result), box,
                   Border::constant, true);
  };
  if (bytes_of(image.type.cls) == 2) {
    return plan.point(
        bodies::box_variance_of_parts,
        {sums, sum_of(bodies::high_part_of_square, {}), sum_of(bodies::low_part_of_square, {})},
        {cells, 1 / (cells * cells)}, single_result);
  }
  const double scaled = box.scaled_cells();
  return plan.point(bodies::box_variance, {sums, sum_of(bodies::counted_squared, {0.0})},
                    {scaled, box.scale(), 1 / (scaled * scaled)}, single_result);
}

// The mean variance of each channel. Those that are not finite are left out: one NaN would make
// means of all pixels.
MeasureValue noise_of(PlanBuilder& plan, const ImageValue& image, const ImageValue& variance) {
  if (!is_integer(image.type.cls)) return finite_mean(plan, variance);
  return mean_of_sums(plan, plan.reduce({.kind = ReduceKind::sum}, variance, {}),
                      image.type.channels);
}

ImageValue lower_wiener2(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const Box box = box_of(call);
  const bool exact = is_integer(image.type.cls) && box.cells() <= max_exact_codes;
  const auto moment = [&](Moments::Of what) {
    return box_moment(plan, what, {image}, box, Border::constant, single_result);
  };
  // Of codes their sum, of which exact differences are made.
  const ImageValue mean =
      exact ? box_sum(plan, image, box, Border::constant, true) : moment(Moments::Of::mean);
  const ImageValue variance =
      exact ? variance_by_sums(plan, image, mean, box) : moment(Moments::Of::variance);
  Arg noise = 0.0;
  if (call.numbers("noise").empty()) {
    noise = Arg::per_channel(noise_of(plan, image, variance), 0);
  } else {
    need_white(call, image);
    noise = call.number("noise") * image.type.white * image.type.white;
  }
  if (exact) {
    return plan.point(bodies::wiener2_of_codes, {image, mean, variance}, {noise, box.cells()},
                      like(image));
  }
  return plan.point(bodies::wiener2, {image, mean, variance}, {noise}, like(image));
}

const RegisterOperator imbilatfilt_operator{{
    .name = "imbilatfilt",
    .help = "bilateral filter: mean of the near pixels that look alike",
    .parameters =
        {{.name = "smoothing",
          .help = "variance of the values that count as alike, in the image's own units "
                  "squared; 0.01 white^2 when not given",
          .numbers = {.max_count = 1, .low = 1e-12, .high = 1e12}},
         {.name = "sigma",
          .letter = 's',
          .help = "standard deviation of the distances, in pixels",
          .numbers = {.max_count = 1, .low = 0.01, .high = 16},
          .fallback = "1"},
         {.name = "size",
          .letter = 'k',
          .help = "side of the square; 2 ceil(2 sigma) + 1 when not given",
          .numbers = {.max_count = 1, .integer = true, .odd = true, .low = 1, .high = 65}}},
    .classes = no_logical,
    .details =
        "sum w x / sum w over a square, w = exp(-d^2 / (2 sigma^2)) exp(-(x - centre)^2 / (2\n"
        "smoothing)), the nearest pixel outside the image. Each channel by itself, in float32;\n"
        "rounded and saturated. NaN spreads.",
    .example = "imbilatfilt 800",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-5 of white",
    .not_finite = {NotFinite::Rule::spread},
    .matlab = "imbilatfilt(A,smoothing,sigma) (there one weight for all channels)",
    .lower = lower_imbilatfilt,
}};

Parameter box_size(std::string_view fallback) {
  return {.name = "size",
          .letter = 'k',
          .help = "rows,columns of the box; one number: a square",
          .numbers = {.max_count = 2, .integer = true, .low = 1, .high = 255},
          .fallback = fallback};
}

const RegisterOperator imguidedfilter_operator{{
    .name = "imguidedfilter",
    .help = "smoothing that keeps the edges of a guide",
    .parameters = {{.name = "guide",
                    .help = "the image (:name) whose edges stay, gray or with as many channels; "
                            "the image itself when not given",
                    .takes = Takes::operand},
                   box_size("5,5"),
                   {.name = "smoothing",
                    .help = "variance of the guide that counts as flat, in its own units squared; "
                            "0.01 of its white^2 when not given",
                    .numbers = {.max_count = 1, .low = 1e-12, .high = 1e12}}},
    .classes = no_logical,
    .details =
        "Means over boxes, the nearest pixel outside: a = (E[gp] - E[g] E[p]) / (E[g^2] - E[g]^2\n"
        "+ smoothing), b = E[p] - a E[g]; the result is E[a] g + E[b]. Each channel by itself, a\n"
        "gray guide for all. In float32, about the middle of the range (exact sums for uint8 up "
        "to\n"
        "32x32); what products of sums lose in rounding is added again.",
    .example = "imguidedfilter 9",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-6 of white",
    .not_finite = {NotFinite::Rule::spread, "windows of windows"},
    .matlab = "imguidedfilter(A,G) (there the covariance of all channels of a colour guide)",
    .lower = lower_imguidedfilter,
}};

const RegisterOperator wiener2_operator{{
    .name = "wiener2",
    .help = "Wiener's filter: smooths where the variance is that of the noise",
    .parameters = {box_size("3,3"),
                   {.name = "noise",
                    .help = "the noise's variance on the unit scale; auto: the mean variance",
                    .numbers = {.max_count = 1, .low = 0, .high = 1e6},
                    .words = {"auto"},
                    .fallback = "auto"}},
    .classes = no_logical,
    .details = "Mean m and variance v = E[x^2] - m^2 over a box, zeros outside the image;\n"
               "m + max(0, v - noise) / max(v, noise) (x - m), and m where both are 0. In float32\n"
               "(exact sums for integers up to 16x16); rounded and saturated.",
    .example = "wiener2 5",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-6 of white",
    .not_finite = {NotFinite::Rule::spread,
                   "the noise of auto is the mean of the finite variances"},
    .matlab = "wiener2(A,[m n],noise) (same; where v and noise are 0 Octave has NaN)",
    .lower = lower_wiener2,
}};

}  // namespace
}  // namespace impipe::ops
