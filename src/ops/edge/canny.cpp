// Canny's edges as Octave's image package finds them: semantics in the details of `edge`.
#include "ops/edge/canny.hpp"

#include <cmath>
#include <limits>

#include "ops/filter/correlate.hpp"
#include "ops/filter/fspecial.hpp"
#include "ops/images.hpp"
#include "ops/statistics/finite.hpp"

IMPIPE_STENCIL_BODY(canny_strength, (1, 1, 1, 1), (), {
  const real jx = (at(-1, 0) - at(1, 0)) * real(0.5);
  const real jy = (at(0, -1) - at(0, 1)) * real(0.5);
  return sqrt(jx * jx + jy * jy);
})

// Which of 0, 45, 90 and 135 degrees the gradient is nearest to, upwards being positive: 1, 2, 4
// and
// 8. The angles between are 22.5 degrees off, whose tangent is sqrt(2) - 1.
IMPIPE_STENCIL_BODY(canny_direction, (1, 1, 1, 1), (), {
  const real jx = at(-1, 0) - at(1, 0);
  const real jy = at(0, -1) - at(0, 1);
  const real limit = real(0.41421356237309503);
  const real diagonal = (jx > real(0)) == (jy > real(0)) ? real(8) : real(2);
  const real steep = abs(jx) < limit * abs(jy) ? real(4) : diagonal;
  return abs(jy) <= limit * abs(jx) ? real(1) : steep;
})

// The directions in which the pixel is stronger than both neighbours, as the sum of 1/2, 1/4, 1/8
// and 1/16; and 16 when it is strong. None where it is weak, or at the border, or beside what is no
// number: outside the image there is none.
IMPIPE_STENCIL_BODY(canny_ridges, (1, 1, 1, 1), (low, high), {
  const real e = at(0, 0);
  // & and |: every comparison is made, so that vectors can make them.
  const bool across = (at(-1, 0) <= at(1, 0)) | (at(-1, 0) > at(1, 0));
  const bool along = (at(0, -1) <= at(0, 1)) | (at(0, -1) > at(0, 1));
  const bool edge = across & along & (e > low);
  const real flat = edge & (e > at(-1, 0)) & (e > at(1, 0)) ? real(0.5) : real(0);
  const real rising = edge & (e > at(1, -1)) & (e > at(-1, 1)) ? real(0.25) : real(0);
  const real upright = edge & (e > at(0, -1)) & (e > at(0, 1)) ? real(0.125) : real(0);
  const real falling = edge & (e > at(-1, -1)) & (e > at(1, 1)) ? real(0.0625) : real(0);
  const real strong = e > high ? real(16) : real(0);
  return (flat + rising) + (upright + falling) + strong;
})

// Whether it is a ridge in its own direction, as Label::Kind::reach wants it. Times the direction,
// the part for it is a half, those before it are whole numbers, and those after it less.
IMPIPE_POINT_BODY(canny_code, (ridges, direction), (), {
  const real halves = ridges * direction;
  const real code = direction + floor(ridges);
  return halves - floor(halves) >= real(0.5) ? code : real(0);
})

// in: the largest strength, the sum of them and, where args[0] is 0, how many; args: pixels, and
// the thresholds as parts of the largest, the upper one -1 when it is to be the mean. What is
// strong is never weak: the lower one is not above the upper one.
IMPIPE_SCALAR_BODY(canny_thresholds, {
  const double mean = in[1] / (args[0] > 0 ? args[0] : in[2]);
  const double low = args[2] >= 0 ? args[1] * in[0] : 0.4 * mean;
  const double high = args[2] >= 0 ? args[2] * in[0] : mean;
  out[0] = high < low ? high : low;
  out[1] = high;
})

namespace impipe::ops {
namespace {

// Rows, then columns, with a gaussian of even length: the result is half a pixel up and left.
ImageValue smoothed(PlanBuilder& plan, const ImageValue& image, double sigma) {
  const int length = 8 * static_cast<int>(std::ceil(sigma));
  const Matrix gaussian = gaussian_kernel(1, length, sigma);
  const std::vector<std::uint8_t> cells(static_cast<std::size_t>(length), 1);
  const int origin = (length - 1) / 2;
  std::vector<Arg> weights(gaussian.values.begin(), gaussian.values.end());
  weights.insert(weights.end(), gaussian.values.begin(), gaussian.values.end());
  return plan.separable(
      {.row = {.width = length, .height = 1, .origin_x = origin, .cells = cells},
       .column = {.width = 1, .height = length, .origin_y = origin, .cells = cells},
       .border = Border::replicate},
      image, weights, single_result);
}

}  // namespace

ImageValue canny_edges(PlanBuilder& plan, const ImageValue& image,
                       const std::vector<double>& thresholds, double sigma) {
  const ImageValue smooth = smoothed(plan, image, sigma);
  const ImageValue strength = plan.stencil(
      {.body = &bodies::canny_strength, .border = Border::replicate}, smooth, {}, single_result);
  const ImageValue direction = plan.stencil(
      {.body = &bodies::canny_direction, .border = Border::replicate}, smooth, {}, single_result);
  const double high = thresholds.empty() ? -1 : thresholds.back();
  const double low = thresholds.size() > 1 ? thresholds.front() : 0.4 * high;
  MeasureValue limits;
  if (is_integer(plan.current().type.cls)) {
    const MeasureValue most = plan.reduce({.kind = ReduceKind::max}, strength, {});
    const MeasureValue sum = plan.reduce({.kind = ReduceKind::sum}, strength, {});
    limits = plan.scalar(bodies::canny_thresholds, {most, sum}, {pixels_argument, low, high}, 2, 1);
  } else {
    const MeasureValue most = finite_range(plan, strength).high;
    const auto [total, count] = finite_sum(plan, strength);
    limits = plan.scalar(bodies::canny_thresholds, {most, total, count}, {0.0, low, high}, 2, 1);
  }
  const ImageValue ridges = plan.stencil({.body = &bodies::canny_ridges}, strength,
                                         {Arg::measured(limits, 0), Arg::measured(limits, 1),
                                          std::numeric_limits<double>::quiet_NaN()},
                                         single_result);
  const ImageValue codes = plan.point(bodies::canny_code, {ridges, direction}, {},
                                      {.cls = PixelClass::uint8, .white = 0});
  return plan.whole(Label{Label::Kind::reach, 8}, {codes}, {}, logical_result);
}

}  // namespace impipe::ops
