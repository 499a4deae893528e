#include "backends/jit/program/byte_sums.hpp"

#include <algorithm>
#include <vector>

#include "core/body_tree.hpp"

namespace impipe::jit {
namespace {

bool can_be_whole(const KernelContext& of, int n) {
  const Node& node = of.node(n);
  const auto* point = as<Point>(node);
  if (point == nullptr || point->body == nullptr || point->in_table || point->lookup ||
      node.cls != PixelClass::uint8 || node.images.size() < 3 || !in_double(of, n)) {
    return false;
  }
  const bool bytes = std::all_of(node.images.begin(), node.images.end(), [&](const Operand& i) {
    return is_integer(of.cls(i)) && bytes_of(of.cls(i)) == 1;
  });
  const bool known =
      std::all_of(node.arguments.begin(), node.arguments.end(),
                  [](const Argument& a) { return a.source == Argument::Source::constant; });
  // Whatever the parameters are.
  const std::vector<double> ones(static_cast<std::size_t>(point->body->parameters), 1.0);
  return bytes && known && linear_weights(*point->body, ones).has_value();
}

}  // namespace

bool is_sum_of_bytes(const KernelContext& of, int n) {
  if (!can_be_whole(of, n)) return false;
  for (int other = 0; other < of.count(); ++other) {
    if (other != n && can_be_whole(of, other)) return true;
  }
  return false;
}

}  // namespace impipe::jit
