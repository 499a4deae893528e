// The values of a node's launch arguments.
#pragma once

#include <span>
#include <vector>

#include "core/kernel_spec.hpp"

namespace impipe::cpu {

// Those of one plane.
struct Arguments {
  std::vector<double> in_double;
  std::vector<float> in_float;
  std::span<const double> table;  // Point::in_table, BetweenTables

  // The border's value: the last argument, 0 when there is none.
  double last() const { return in_double.empty() ? 0 : in_double.back(); }
  bool same_as(const Arguments& other) const;
};

// measures: those of the node's measure operands, in their order. size: of its first image.
Arguments evaluate_arguments(const Node& node, std::span<const std::span<const double>> measures,
                             Size size);

}  // namespace impipe::cpu
