// Conversions between colour spaces as points: curves by tables, matrices, cubes of colours.
#include "ops/colour/conversion.hpp"
#include "ops/colour/tables.hpp"

#include <cmath>

#include "ops/colour/channels.hpp"
#include "ops/colour/fixed_functions.hpp"
#include "ops/colour/spaces.hpp"
#include "ops/images.hpp"

IMPIPE_POINT_BODY(matrix_row, (r, g, b), (k1, k2, k3, add),
                  { return fma(k3, b, fma(k2, g, fma(k1, r, add))); })
IMPIPE_POINT_BODY(of_unit, (x), (white), { return x * white; })
IMPIPE_POINT_BODY(root_position, (l), (last), { return sqrt(clamp(l, real(0), real(1))) * last; })
// The fourth root of (the square root and a half), less that of a half, with the value's sign:
// every device has the same bits of it.
IMPIPE_POINT_BODY(wide_position, (x), (white, scale, middle), {
  const real u = clamp(over(x, white), real(-65504), real(65504));
  const real at = sqrt(sqrt(sqrt(abs(u)) + real(0.5))) - real(0.8408964152537146);
  return fma(u < real(0) ? -at : at, scale, middle);
})
IMPIPE_POINT_BODY(of_lab_curve, (f), (), {
  const real cube = f * f * f;
  return f > real(6.0 / 29.0) ? cube : real(108.0 / 841.0) * (f - real(16.0 / 116.0));
})

namespace impipe::ops {
namespace {

// Values at which a curve is sampled, and the positions of others between them.
struct Samples {
  std::vector<double> values;
  bool is_wide = false;  // from -65504 to 65504, by wide_position
  double scale = 1, middle = 0;
  int count() const { return static_cast<int>(values.size()); }
};

double wide(double value) { return std::pow(std::sqrt(value) + 0.5, 0.25) - std::pow(0.5, 0.25); }

Samples wide_samples() {
  // 0 and 1, where curves have their corners, are samples.
  constexpr int unit = 1840, middle = 21890;
  const double step = wide(1) / unit;
  Samples out{.values = {}, .is_wide = true, .scale = 1 / step, .middle = middle};
  for (int i = -middle; i <= middle; ++i) {
    const double root = std::pow(std::abs(i) * step + std::pow(0.5, 0.25), 4) - 0.5;
    out.values.push_back(std::copysign(root * root, i));
  }
  return out;
}

// One for each integer pixel.
Samples samples_of(const ImageType& type) {
  if (type.cls == PixelClass::single) return wide_samples();
  Samples out;
  const int most = static_cast<int>(class_max(type.cls));
  for (int i = 0; i <= most; ++i) out.values.push_back(i / type.white);
  return out;
}

// Over the root of light, where curves of 4097 entries are exact to 1 of 65,535.
Samples light_samples(PixelClass cls) {
  if (cls == PixelClass::single) return wide_samples();
  constexpr int last = 4096;
  Samples out{.values = {}, .scale = last};
  for (int i = 0; i <= last; ++i) out.values.push_back(std::pow(static_cast<double>(i) / last, 2));
  return out;
}

ImageValue positions_among(PlanBuilder& plan, const ImageValue& image, const Samples& samples) {
  if (!samples.is_wide) {
    return plan.point(bodies::root_position, {image}, {samples.scale}, unit_single);
  }
  return plan.point(bodies::wide_position, {image},
                    {image.type.white, samples.scale, samples.middle}, unit_single);
}

MeasureValue sampled(PlanBuilder& plan, const ColourMap::Curves& curves, const Samples& samples,
                     int channels, int values) {
  return plan.constant([curves, at = samples.values] { return curves(at); }, values, channels);
}

// The values of the image by a table's curve that begins at `first`.
ImageValue by_curve(PlanBuilder& plan, const ImageValue& image, const Samples& samples,
                    const Arg& first) {
  if (is_integer(image.type.cls)) return at_pixels(plan, image, first, unit_single);
  return on_curve(plan, positions_among(plan, image, samples), first, unit_single);
}

// A gray image: a curve for each channel of the result.
ImageValue of_gray(PlanBuilder& plan, const ImageValue& image, const ColourMap& map,
                   const Result& result) {
  const Samples samples = samples_of(image.type);
  const MeasureValue table = sampled(plan, map.in, samples, 1, samples.count() * map.channels);
  std::vector<ImageValue> made;
  for (int c = 0; c < map.channels; ++c) {
    const ImageValue value =
        by_curve(plan, image, samples, Arg::measured(table, c * samples.count()));
    made.push_back(plan.point(bodies::of_unit, {value}, {result.white}, result));
  }
  return made.size() == 1 ? made.front() : joined_channels(plan, made);
}

ImageValue by_cube(PlanBuilder& plan, const ImageValue& image, const ColourMap& map,
                   const Result& result) {
  std::int64_t entries = map.channels;
  for (int c = 0; c < image.type.channels; ++c) entries *= map.side;
  const Cube cube{
      .table = plan.constant(map.cube, entries, 1), .side = map.side, .trilinear = map.trilinear};
  const ImageValue made = in_cube(plan, positions_of(plan, image, map.side - 1), cube, result);
  return map.from_lab ? plan.point(bodies::of_lab_curve, {made}, {}, unit_single) : made;
}

ImageValue by_matrix(PlanBuilder& plan, const ImageValue& image, const ColourMap& map,
                     const Result& result) {
  std::vector<ImageValue> rows;
  for (const auto& row : map.matrix) {
    std::vector<Arg> weights;
    for (const double weight : row) weights.emplace_back(weight * result.white);
    rows.push_back(plan.point(Point{.body = &bodies::matrix_row, .mixes_channels = true}, {image},
                              std::move(weights), result));
  }
  return joined_channels(plan, rows);
}

}  // namespace

ImageValue converted(PlanBuilder& plan, const ImageValue& image, const ColourMap& map,
                     Result result) {
  if (image.type.channels == 1) return of_gray(plan, image, map, result);
  if (map.function) {
    return plan.point(bodies::of_unit, {by_function(plan, image, *map.function)}, {result.white},
                      result);
  }
  Result light = map.out ? unit_single : result;  // of all steps but the curves at the end
  light.channels = map.channels;
  ImageValue made = image;
  if (!map.in && map.side == 0 && image.type.white != 1) {
    made = plan.point(bodies::of_unit, {image}, {1 / image.type.white}, unit_single);
  }
  if (map.in) {
    const Samples samples = samples_of(image.type);
    const MeasureValue table = sampled(plan, map.in, samples, image.type.channels, samples.count());
    made = by_curve(plan, made, samples, Arg::per_channel(table, 0));
  }
  if (map.side > 0) made = by_cube(plan, made, map, light);
  light.channels = 1;
  if (map.has_matrix) made = by_matrix(plan, made, map, light);
  if (!map.out) return made;
  const Samples samples = light_samples(image.type.cls);
  const MeasureValue table = sampled(plan, map.out, samples, map.channels, samples.count());
  return on_curve(plan, positions_among(plan, made, samples), Arg::per_channel(table, 0), result);
}

}  // namespace impipe::ops
