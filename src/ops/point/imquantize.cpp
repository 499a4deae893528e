// imquantize: which of a list of levels a value lies between.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/images.hpp"
#include "ops/table.hpp"

// How many of eight levels are below x, added to those counted before or to `from`. Equal belongs
// below.
IMPIPE_POINT_BODY(levels_below, (x), (from, l1, l2, l3, l4, l5, l6, l7, l8), {
  const real first = (x > l1 ? real(1) : real(0)) + (x > l2 ? real(1) : real(0)) +
                     (x > l3 ? real(1) : real(0)) + (x > l4 ? real(1) : real(0));
  const real second = (x > l5 ? real(1) : real(0)) + (x > l6 ? real(1) : real(0)) +
                      (x > l7 ? real(1) : real(0)) + (x > l8 ? real(1) : real(0));
  return from + first + second;
})
IMPIPE_POINT_BODY(more_levels_below, (x, counted), (l1, l2, l3, l4, l5, l6, l7, l8), {
  const real first = (x > l1 ? real(1) : real(0)) + (x > l2 ? real(1) : real(0)) +
                     (x > l3 ? real(1) : real(0)) + (x > l4 ? real(1) : real(0));
  const real second = (x > l5 ? real(1) : real(0)) + (x > l6 ? real(1) : real(0)) +
                      (x > l7 ? real(1) : real(0)) + (x > l8 ? real(1) : real(0));
  return counted + first + second;
})

namespace impipe::ops {
namespace {

constexpr int max_levels = 255;
constexpr int levels_a_point = 8;

// The largest float32 that is not above a level: the same pixels, which are float32s or codes, are
// above both.
double as_float_below(double level) {
  const auto nearest = static_cast<float>(level);
  const float lowest = -std::numeric_limits<float>::infinity();
  return nearest <= level ? nearest : std::nextafter(nearest, lowest);
}

ImageValue lower_imquantize(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  std::vector<double> levels = call.numbers("levels");
  if (!std::is_sorted(levels.begin(), levels.end())) {
    call.fail("levels", "the levels must not fall from one to the next");
  }
  const std::size_t count = levels.size();
  // Nothing is above the levels that fill the last point.
  while (levels.size() % levels_a_point != 0) levels.push_back(unlimited);
  std::ranges::transform(levels, levels.begin(), as_float_below);
  // Places in a table of values begin with 0.
  std::vector<Arg> first{call.has("values") ? 0.0 : 1.0};
  first.insert(first.end(), levels.begin(), levels.begin() + levels_a_point);
  ImageValue below = plan.point(bodies::levels_below, {image}, first, single_result);
  for (auto level = levels.begin() + levels_a_point; level != levels.end();
       level += levels_a_point) {
    below = plan.point(bodies::more_levels_below, {image, below},
                       std::vector<Arg>(level, level + levels_a_point), single_result);
  }
  if (!call.has("values")) return below;
  const std::vector<double>& values = call.numbers("values");
  if (values.size() != count + 1) {
    call.fail("values", "there are " + std::to_string(values.size()) + " values for " +
                            std::to_string(count) + " levels; there is one more than levels");
  }
  return looked_up(plan, below, table_of(plan, values),
                   {.cls = PixelClass::single, .white = image.type.white});
}

const RegisterOperator imquantize_operator{{
    .name = "imquantize",
    .help = "the number of the interval between levels that a value lies in, or a value for it",
    .parameters = {{.name = "levels",
                    .help = "ends of the intervals, rising, in the image's own units",
                    .numbers = {.max_count = max_levels},
                    .required = true},
                   {.name = "values",
                    .help = "a value for each interval, one more than levels",
                    .numbers = {.max_count = max_levels + 1}}},
    .details =
        "i = number of levels < x: a value equal to a level belongs below it, NaN is 0. Without\n"
        "values the result is i + 1, single without a white; with them values[i], single with the\n"
        "image's white.",
    .example = "imquantize 60,120,200 values=0,80,160,255",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::other, "NaN is above no level"},
    .matlab = "imquantize(A,levels,values) (same)",
    .lower = lower_imquantize,
}};

}  // namespace
}  // namespace impipe::ops
