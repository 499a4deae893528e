// Makes a measurement of numbers that are known beforehand.
#include "ops/table.hpp"

#include <algorithm>

// args: how many numbers, and they.
IMPIPE_SCALAR_BODY(numbers_given, {
  for (int i = 0; i < (int)args[0]; ++i) out[i] = args[1 + i];
})
// Several measurements as one. args: how many numbers they have together.
IMPIPE_SCALAR_BODY(numbers_in_a_row, {
  for (int i = 0; i < (int)args[0]; ++i) out[i] = in[i];
})

IMPIPE_POINT_BODY(place_in_table, (x), (), { return x; })

namespace impipe::ops {
namespace {

constexpr std::size_t max_arguments = 200;  // of one step: a launch's arguments are 4096 bytes

}  // namespace

MeasureValue table_of(PlanBuilder& plan, const std::vector<double>& values) {
  std::vector<MeasureValue> parts;
  for (std::size_t from = 0; from < values.size(); from += max_arguments) {
    const std::size_t count = std::min(max_arguments, values.size() - from);
    std::vector<Arg> args{static_cast<double>(count)};
    for (std::size_t i = 0; i < count; ++i) args.emplace_back(values[from + i]);
    parts.push_back(plan.scalar(bodies::numbers_given, {}, args, static_cast<int>(count), 1));
  }
  if (parts.size() == 1) return parts.front();
  return plan.scalar(bodies::numbers_in_a_row, parts, {static_cast<double>(values.size())},
                     static_cast<int>(values.size()), 1);
}

ImageValue looked_up(PlanBuilder& plan, const ImageValue& places, MeasureValue table,
                     Result result) {
  return plan.point(Point{.body = &bodies::place_in_table, .in_double = true, .in_table = true},
                    {places}, {Arg::measured(table, 0)}, result);
}

}  // namespace impipe::ops
