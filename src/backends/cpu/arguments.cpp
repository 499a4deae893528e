// The values of a node's launch arguments.
#include "backends/cpu/arguments.hpp"

#include <algorithm>

#include "core/primitive_facts.hpp"

namespace impipe::cpu {
namespace {

double value_of(const Argument& argument, std::span<const MeasureView> measures, Size size,
                int channel) {
  if (argument.source != Argument::Source::measured) return impipe::value_of(argument, size);
  const MeasureView& m = measures[argument.measure];
  const int from = argument.per_channel ? std::min(channel, m.channels - 1) : 0;
  return m.data[from * m.values + argument.element];
}

}  // namespace

Arguments evaluate_arguments(const Node& node, std::span<const MeasureView> measures, Size size) {
  const bool differ =
      node.channels > 1 && std::any_of(node.arguments.begin(), node.arguments.end(),
                                       [](const Argument& a) { return a.per_channel; });
  Arguments out;
  for (int c = 0; c < (differ ? node.channels : 1); ++c) {
    std::vector<double> values;
    for (const Argument& a : node.arguments) values.push_back(value_of(a, measures, size, c));
    out.channels_float.emplace_back(values.begin(), values.end());
    out.channels.push_back(std::move(values));
  }
  if (const auto* point = std::get_if<Point>(&node.primitive);
      point != nullptr && point->in_table) {
    const Argument& first = node.arguments.back();
    const MeasureView& m = measures[first.measure];
    for (int c = 0; c < (differ ? node.channels : 1); ++c) {
      const int from = first.per_channel ? std::min(c, m.channels - 1) : 0;
      out.tables.emplace_back(m.data + from * m.values + first.element,
                              static_cast<std::size_t>(m.values - first.element));
    }
  }
  return out;
}

}  // namespace impipe::cpu
