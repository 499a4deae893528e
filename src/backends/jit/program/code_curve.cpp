#include "backends/jit/program/quotients.hpp"

#include <algorithm>

#include "core/body_tree.hpp"
#include "core/expression.hpp"

namespace impipe::jit {
namespace {

bool calls_functions(const Expression& expression) {
  using enum ExpressionOp;
  constexpr ExpressionOp functions[] = {power, exp, log, sin, cos, tan, atan2};
  return std::ranges::any_of(expression.nodes(), [&](const ExpressionNode& e) {
    return std::ranges::count(functions, e.op) > 0;
  });
}

bool needs_place(const Expression& expression) {
  return expression.uses("col") || expression.uses("row");
}

}  // namespace

bool is_curve_of_codes(const KernelContext& of, int n) {
  const Node& node = of.node(n);
  const auto* point = as<Point>(node);
  if (point == nullptr || point->lookup || point->in_table || node.images.size() != 1 ||
      of.cls(node.images[0]) != PixelClass::uint16 || !in_double(of, n)) {
    return false;
  }
  const bool known = std::ranges::all_of(node.measures, &Operand::external);
  if (point->expression != nullptr) {
    return known && calls_functions(*point->expression) && !needs_place(*point->expression);
  }
  return known && point->body != nullptr && traits_of(*point->body).functions;
}

bool is_same_for_planes(const KernelContext& of, int n) {
  return std::ranges::none_of(of.node(n).arguments, [](const Argument& a) {
    return a.source == Argument::Source::measured;
  });
}

}  // namespace impipe::jit
