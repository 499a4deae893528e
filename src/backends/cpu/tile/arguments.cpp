// The values of a node's launch arguments.
#include "backends/cpu/tile/arguments.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/primitive_facts.hpp"

namespace impipe::cpu {
bool Arguments::same_as(const Arguments& other) const {
  // 0 and -0 differ.
  const auto same = [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  };
  return std::ranges::equal(in_double, other.in_double, same) &&
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
  if ((point != nullptr && point->in_table) ||
      std::holds_alternative<BetweenTables>(node.primitive)) {
    const Argument& first = node.arguments.back();
    out.table = measures[first.measure].subspan(static_cast<std::size_t>(first.element));
  }
  return out;
}

}  // namespace impipe::cpu
