// Waiting stages: their names, and the calls that they have once the numbers are there.
#include "pipeline/measured_arguments.hpp"

#include <algorithm>
#include <memory>
#include <variant>

#include "core/error.hpp"
#include "core/object_table.hpp"
#include "pipeline/arguments.hpp"
#include "pipeline/script.hpp"

namespace impipe::pipeline {
namespace {

// The row of the largest object of a table, of several the first; the first row of a table that is
// of no objects.
std::size_t largest_row(const std::vector<std::string>& columns,
                        const std::vector<double>& numbers) {
  const auto area = static_cast<std::size_t>(std::ranges::find(columns, "Area") - columns.begin());
  if (area == columns.size()) return 0;
  std::size_t largest = 0;
  const auto area_of = [&](std::size_t row) { return numbers[row * columns.size() + area]; };
  for (std::size_t row = 1; row < numbers.size() / columns.size(); ++row) {
    if (area_of(row) > area_of(largest)) largest = row;
  }
  return largest;
}

MeasuredNumbers numbers_in_table(const PlanMeasurement& measurement, const MeasuredPlace& place,
                                 const std::vector<double>& numbers) {
  const std::vector<std::string> columns = columns_of(*measurement.objects);
  if (numbers.empty()) {
    throw Error("'" + measurement.name + "' has no object, and the pipeline takes numbers of it",
                ExitCode::file_failed);
  }
  const std::size_t row = largest_row(columns, numbers);
  MeasuredNumbers out;
  for (const std::size_t column : place.columns) {
    double number = numbers[row * columns.size() + column];
    // In the numbers of imcrop: from 0 on, where the first pixel begins and not half a pixel
    // before its centre.
    const std::string& name = columns[column];
    if (name == "BoundingBox_x" || name == "BoundingBox_y") {
      number += 0.5 - measurement.objects->scale.origin;
    }
    out.numbers.push_back(number);
  }
  return out;
}

// The call of a stage whose measured arguments `set` has changed.
template <class Set>
Call call_with(const Pipeline& pipeline, const BoundStage& stage, Set set) {
  Stage written = *stage.waiting;
  for (Argument& argument : written.arguments) {
    for (Item& item : argument.items) {
      if (auto* measured = std::get_if<Measured>(&item.value)) set(*measured);
    }
  }
  const Operator& op = stage.call->op();
  const Script script{.text = pipeline.text, .origin = pipeline.origin, .stages = {}};
  return {op, match_arguments(script, written, op), pipeline.text, pipeline.origin, stage.span};
}

}  // namespace

bool Pipeline::has_measured_arguments() const {
  return first_waiting(*this, 0, stages.size()) < stages.size();
}

std::vector<AwaitedName> awaited(const BoundStage& stage) {
  std::vector<AwaitedName> names;
  if (stage.waiting == nullptr) return names;
  for (const Argument& argument : stage.waiting->arguments) {
    for (const Item& item : argument.items) {
      const auto* measured = std::get_if<Measured>(&item.value);
      if (measured != nullptr) names.push_back({measured->name, item.span});
    }
  }
  return names;
}

std::size_t first_waiting(const Pipeline& pipeline, std::size_t begin, std::size_t end) {
  while (begin < end && pipeline.stages[begin].waiting == nullptr) ++begin;
  return begin;
}

Call call_until_measured(const Pipeline& pipeline, const BoundStage& stage,
                         const std::map<std::string, MeasuredPlace>& places) {
  return call_with(pipeline, stage, [&](Measured& measured) {
    const MeasuredPlace& place = places.at(measured.name);
    measured.count = place.table ? place.columns.size() : place.elements.size();
    measured.columns = place.matrix_columns;
  });
}

void settle(Pipeline& pipeline, std::size_t stage,
            const std::map<std::string, MeasuredNumbers>& numbers) {
  BoundStage& bound = pipeline.stages[stage];
  bound.call = call_with(pipeline, bound, [&](Measured& measured) {
    const MeasuredNumbers& found = numbers.at(measured.name);
    measured.numbers = found.numbers;
    measured.columns = found.columns;
  });
  bound.waiting = nullptr;
}

MeasuredNumbers numbers_at(const Plan& plan, const MeasuredPlace& place,
                           const std::vector<std::vector<double>>& measurements) {
  if (place.table) {
    return numbers_in_table(plan.measurements[*place.table], place, measurements[*place.table]);
  }
  MeasuredNumbers out{.numbers = {}, .columns = place.matrix_columns};
  for (const MeasuredPlace::Element& at : place.elements) {
    const auto found = std::ranges::find(plan.measurements, at.value, &PlanMeasurement::value);
    const auto& numbers = measurements[static_cast<std::size_t>(found - plan.measurements.begin())];
    const auto values = plan.values[static_cast<std::size_t>(at.value)].values;
    out.numbers.push_back(numbers[static_cast<std::size_t>(at.channel * values + at.element)]);
  }
  return out;
}

}  // namespace impipe::pipeline
