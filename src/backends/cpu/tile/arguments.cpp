// The values of a node's launch arguments.
#include "backends/cpu/tile/arguments.hpp"

#include <cstring>

#include "core/primitive_facts.hpp"

namespace impipe::cpu {
bool Arguments::same_as(const Arguments& other) const {
  // 0 and -0 differ.
  return in_double.size() == other.in_double.size() &&
         std::memcmp(in_double.data(), other.in_double.data(), in_double.size() * sizeof(double)) ==
             0 &&
         table.data() == other.table.data() && table.size() == other.table.size();
}

Arguments evaluate_arguments(const Node& node, std::span<const std::span<const double>> measures,
                             Size size) {
  Arguments out;
  for (const Argument& a : node.arguments) {
    const bool measured = a.source == Argument::Source::measured;
    out.in_double.push_back(measured ? measures[a.measure][static_cast<std::size_t>(a.element)]
                                     : value_of(a, size));
  }
  out.in_float.assign(out.in_double.begin(), out.in_double.end());
  const auto* point = std::get_if<Point>(&node.primitive);
  if (point != nullptr && point->in_table) {
    const Argument& first = node.arguments.back();
    out.table = measures[first.measure].subspan(static_cast<std::size_t>(first.element));
  }
  return out;
}

}  // namespace impipe::cpu
