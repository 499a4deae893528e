// Which measurements a pass over a picture makes, and what becomes of their numbers.
#include "engine/program/band_measures.hpp"

#include <algorithm>
#include <utility>

#include "core/primitive_facts.hpp"

namespace impipe::engine {
namespace {

const Node& node_of(const Step& step) { return step.kernel.nodes.front(); }

// The step without its measurements, whose numbers its arguments have become.
void drop_measures(Step& step, const std::vector<PlanValue>& values) {
  Node& node = step.kernel.nodes.front();
  node.measures.clear();
  std::vector<ValueId> inputs;
  std::vector<KernelInput> kernel_inputs;
  std::vector<int> moved(step.inputs.size());
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    if (values[static_cast<std::size_t>(step.inputs[i])].is_measure) continue;
    moved[i] = static_cast<int>(inputs.size());
    inputs.push_back(step.inputs[i]);
    kernel_inputs.push_back(step.kernel.inputs[i]);
  }
  for (Operand& image : node.images) image.index = moved[static_cast<std::size_t>(image.index)];
  step.inputs = std::move(inputs);
  step.kernel.inputs = std::move(kernel_inputs);
}

}  // namespace

BandMeasures::BandMeasures(const Plan& lowered, std::vector<Size> sizes)
    : plan_(lowered), sizes_(std::move(sizes)), ready_(lowered.values.size()) {
  find_next();
}

bool BandMeasures::is_ready(const Step& step) const {
  return std::ranges::all_of(step.inputs, [&](ValueId id) {
    return plan_.values[static_cast<std::size_t>(id)].is_measure ? known_.contains(id)
                                                                 : bool{ready_[id]};
  });
}

void BandMeasures::find_next() {
  images_.clear();
  roots_.clear();
  statistics_.clear();
  ready_[0] = true;
  if (plan_.input_alpha) ready_[static_cast<std::size_t>(*plan_.input_alpha)] = true;
  std::vector<std::vector<RowStatistics::Wanted>> wanted;
  for (const Step& step : plan_.steps) {
    const Node& node = node_of(step);
    const ValueId made = step.outputs.front();
    if (known_.contains(made) || !is_ready(step)) continue;
    if (!node.is_measure) {
      ready_[static_cast<std::size_t>(made)] = true;
    } else if (node.images.empty()) {
      known_[made] = scalar(step);
    } else {
      const ValueId image = step.inputs[static_cast<std::size_t>(node.images.front().index)];
      const auto at = static_cast<std::size_t>(std::ranges::find(images_, image) - images_.begin());
      if (at == images_.size()) {
        images_.push_back(image);
        wanted.emplace_back();
      }
      std::vector<std::vector<double>> arguments;
      for (int c = 0; c < node.channels; ++c) {
        arguments.push_back(arguments_of(step, static_cast<std::size_t>(c)));
      }
      roots_.push_back({&step, at, wanted[at].size()});
      wanted[at].push_back({&node, std::move(arguments)});
    }
  }
  for (std::size_t i = 0; i < images_.size(); ++i) {
    const auto id = static_cast<std::size_t>(images_[i]);
    statistics_.emplace_back(plan_.values[id].type, sizes_[id], std::move(wanted[i]));
  }
}

void BandMeasures::finish_pass() {
  for (const Root& root : roots_) {
    known_[root.step->outputs.front()] = statistics_[root.image].found(root.which);
  }
  find_next();
}

std::vector<double> BandMeasures::arguments_of(const Step& step, std::size_t channel) const {
  const Node& node = node_of(step);
  const auto made = static_cast<std::size_t>(step.outputs.front());
  const auto of = static_cast<std::size_t>(
      node.images.empty() ? plan_.values[made].measured_image
                          : step.inputs[static_cast<std::size_t>(node.images.front().index)]);
  std::vector<double> out;
  for (const Argument& argument : node.arguments) {
    if (argument.source != Argument::Source::measured) {
      out.push_back(value_of(argument, sizes_[of]));
      continue;
    }
    const Operand& operand = node.measures[static_cast<std::size_t>(argument.measure)];
    const ValueId id = step.inputs[static_cast<std::size_t>(operand.index)];
    const PlanValue& measure = plan_.values[static_cast<std::size_t>(id)];
    const bool own = argument.per_channel && node.channels > 1 && measure.channels > 1;
    out.push_back(known_.at(id)[(own ? channel : 0) * static_cast<std::size_t>(measure.values) +
                                static_cast<std::size_t>(argument.element)]);
  }
  return out;
}

std::vector<double> BandMeasures::scalar(const Step& step) const {
  const Node& node = node_of(step);
  std::vector<double> out(static_cast<std::size_t>(node.channels * node.values));
  for (int c = 0; c < node.channels; ++c) {
    std::vector<double> in;
    std::vector<std::int64_t> counts;
    for (const Operand& operand : node.measures) {
      const ValueId id = step.inputs[static_cast<std::size_t>(operand.index)];
      const PlanValue& measure = plan_.values[static_cast<std::size_t>(id)];
      // Its own channel's, or those of all channels where it has another number of them.
      const bool all = measure.channels != node.channels && measure.channels > 1;
      const std::int64_t count = measure.values * (all ? measure.channels : 1);
      const auto begin = known_.at(id).begin() + (measure.channels > 1 && !all ? c * count : 0);
      in.insert(in.end(), begin, begin + count);
      counts.push_back(count);
    }
    std::get<Scalar>(node.primitive)
        .body->run(in.data(), counts.data(), arguments_of(step, static_cast<std::size_t>(c)).data(),
                   out.data() + c * node.values);
  }
  return out;
}

Plan BandMeasures::with_constants() const {
  Plan out = plan_;
  std::erase_if(out.steps,
                [&](const Step& step) { return node_of(step).is_measure || !is_ready(step); });
  for (Step& step : out.steps) {
    const std::vector<double> numbers = arguments_of(step, 0);
    Node& node = step.kernel.nodes.front();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      Argument& argument = node.arguments[i];
      if (argument.source == Argument::Source::measured) argument = {.value = numbers[i]};
    }
    drop_measures(step, plan_.values);
  }
  return out;
}

Plan BandMeasures::pass() const {
  Plan out = with_constants();
  out.writes_image = false;
  out.measurements.clear();
  out.columns.clear();
  for (const ValueId image : images_) out.saves.push_back({.name_template = "", .value = image});
  return out;
}

}  // namespace impipe::engine
