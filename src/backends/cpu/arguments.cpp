// The values of a node's launch arguments.
#include "backends/cpu/arguments.hpp"

#include <algorithm>
#include <cstring>

#include "core/primitive_facts.hpp"

namespace impipe::cpu {
namespace {

// The values of a measurement that an argument of this channel is among.
std::span<const double> values_of(const Argument& argument, std::span<const MeasureView> measures,
                                  int channel) {
  const MeasureView& m = measures[argument.measure];
  const int from = argument.per_channel ? std::min(channel, m.channels - 1) : 0;
  return {m.data + from * m.values, static_cast<std::size_t>(m.values)};
}

}  // namespace

bool Arguments::same_as(const Arguments& other) const {
  // 0 and -0 differ.
  return in_double.size() == other.in_double.size() &&
         std::memcmp(in_double.data(), other.in_double.data(), in_double.size() * sizeof(double)) ==
             0 &&
         table.data() == other.table.data() && table.size() == other.table.size();
}

Arguments evaluate_arguments(const Node& node, std::span<const MeasureView> measures, Size size,
                             int channel) {
  Arguments out;
  for (const Argument& a : node.arguments) {
    const bool measured = a.source == Argument::Source::measured;
    out.in_double.push_back(
        measured ? values_of(a, measures, channel)[static_cast<std::size_t>(a.element)]
                 : value_of(a, size));
  }
  out.in_float.assign(out.in_double.begin(), out.in_double.end());
  const auto* point = std::get_if<Point>(&node.primitive);
  if (point != nullptr && point->in_table) {
    const Argument& first = node.arguments.back();
    out.table =
        values_of(first, measures, channel).subspan(static_cast<std::size_t>(first.element));
  }
  return out;
}

}  // namespace impipe::cpu
