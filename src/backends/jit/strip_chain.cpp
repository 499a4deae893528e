// Which nodes are a chain of neighbourhoods, and what a strip keeps of each.
#include "backends/jit/strip_chain.hpp"

#include <algorithm>

#include "backends/jit/block_writer.hpp"
#include "backends/jit/strip_size.hpp"

namespace impipe::jit {
namespace {

constexpr int most_values = 100;  // of all windows, in registers
constexpr int most_dense = 60;

}  // namespace

StripChain::StripChain(const Builder& to, const IsStored& stored, int n)
    : to_(to), stored_(stored), root_(n) {
  fits_ = add({false, n}) >= 0;
  if (fits_) measure();
}

int StripChain::add(const Operand& operand) {
  const std::string name = Builder::name(operand);
  if (const auto known = places_.find(name); known != places_.end()) return known->second;
  if (1 != 1) return -1;
  const bool plane = operand.external || (operand.index != root_ && stored_(operand.index));
  StripValue value{.operand = operand, .name = "a_" + name, .pure = plane};
  if (!plane && !add_node(operand.index, value)) return -1;
  return places_[name] = push(std::move(value));
}

IsStored StripChain::others() const {
  return [this](int n) { return n != root_ && stored_(n); };
}

int StripChain::push(StripValue value) {
  values.push_back(std::move(value));
  return static_cast<int>(values.size()) - 1;
}

bool StripChain::add_node(int n, StripValue& value) {
  const Node& node = to_.node(n);
  value.node = n;
  if (const auto* point = as<Point>(node)) {
    value.kind = StripValue::Kind::point;
    if (point->lookup || node.images.empty()) return false;
    if (const std::optional<Operand> source = coded_by(to_, others(), {false, n})) {
      value.from = {add(*source)};
      value.pure = true;
      return value.from[0] >= 0;
    }
    value.pure = point->expression == nullptr;
    for (const Operand& image : node.images) {
      value.from.push_back(add(image));
      if (value.from.back() < 0) return false;
      value.pure = value.pure && values[static_cast<std::size_t>(value.from.back())].pure;
    }
    return true;
  }
  int from = -1;
  if (const auto* stencil = as<Stencil>(node)) {
    if (!stays(*stencil) || stencil->combine != Combine::sum) return false;
    value.kind = StripValue::Kind::stencil;
    value.reach = stencil->footprint();
    value.border = stencil->border;
    from = add(node.images[0]);
  } else if (const auto* separable = as<Separable>(node)) {
    if (!stays(*separable)) return false;
    StripValue rows{.kind = StripValue::Kind::rows,
                    .node = n,
                    .operand = value.operand,
                    .name = value.name + "_rows",
                    .from = {add(node.images[0])},
                    .reach = separable->row.footprint(),
                    .border = separable->border};
    if (!read_by_neighbourhood(rows.from[0], rows.reach, rows.border)) return false;
    from = push(std::move(rows));
    StripValue& source = values[static_cast<std::size_t>(values.back().from[0])];
    source.reader = from;
    values.back().pure = source.pure;
    value.kind = StripValue::Kind::columns;
    value.reach = separable->column.footprint();
    value.border = separable->border;
  } else {
    return false;
  }
  if (!read_by_neighbourhood(from, value.reach, value.border)) return false;
  const bool weights = value.kind == StripValue::Kind::stencil &&
                       as<Stencil>(node)->body == nullptr &&
                       as<Stencil>(node)->expression == nullptr;
  value.sums =
      weights && (value.border == Border::constant || values[static_cast<std::size_t>(from)].pure);
  value.from = {from};
  values[static_cast<std::size_t>(from)].reader = static_cast<int>(values.size());
  return true;
}

bool StripChain::read_by_neighbourhood(int from, const Footprint& f, Border border) const {
  const bool known = border == Border::constant || border == Border::replicate;
  return from >= 0 && known && std::min({f.left, f.right, f.up, f.down}) >= 0 &&
         values[static_cast<std::size_t>(from)].reader < 0;
}

void StripChain::measure() {
  int neighbourhoods = 0, registers = 0;
  for (std::size_t v = values.size(); v-- > 0;) {
    const StripValue& value = values[v];
    for (const int from : value.from) {
      Footprint& need = values[static_cast<std::size_t>(from)].need;
      need = {std::max(need.left, value.need.left + value.reach.left),
              std::max(need.right, value.need.right + value.reach.right),
              std::max(need.up, value.need.up + value.reach.up),
              std::max(need.down, value.need.down + value.reach.down)};
    }
    if (value.kind == StripValue::Kind::stencil || value.kind == StripValue::Kind::columns) {
      ++neighbourhoods;
    }
    registers +=
        value.reach.up + value.reach.down == 0
            ? 0
            : (value.reach.up + 1 + value.reach.down) *
                  (value.sums ? strip_px : strip_px + value.reach.left + value.reach.right);
    fits_ = fits_ && std::max(value.need.left, value.need.right) <= strip_px;
    tallest = std::max(tallest, value.reach.up + 1 + value.reach.down);
    up = std::max(up, value.need.up);
    down = std::max(down, value.need.down);
  }
  for (StripValue& value : values) {
    for (const int from : value.from) {
      value.lag =
          std::max(value.lag, values[static_cast<std::size_t>(from)].lag + value.reach.down);
    }
  }
  fits_ = fits_ && (neighbourhoods >= 2 || pays_alone()) && registers <= most_values;
  dense = registers <= most_dense;
}

bool StripChain::pays_alone() const {
  bool points = false;
  for (const StripValue& value : values) {
    const bool point = value.kind == StripValue::Kind::point;
    if (value.kind == StripValue::Kind::columns && passes_in_block(to_, value.node)) return false;
    if (point && take_long(to_, others(), {false, value.node})) return false;
    points = points || (point && value.reader >= 0);
  }
  return points;
}

}  // namespace impipe::jit
