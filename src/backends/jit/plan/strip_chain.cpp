// Decides which nodes are a chain of neighbourhoods, and what its kernel keeps of each row.
#include "backends/jit/plan/strip_chain.hpp"

#include <algorithm>
#include <map>

#include "backends/jit/plan/block_plan.hpp"
#include "backends/jit/plan/strip_size.hpp"

namespace impipe::jit {
namespace {

constexpr int max_values = 100;  // of all windows, in registers
constexpr int max_dense = 60;
// The rows of the tallest neighbourhood times the values, which are all written out: NVRTC takes 12
// to 15 s for 9 rows of 9 to 11 values, 3 s for 5 rows of them (0022).
constexpr int max_text = 80;

class ChainMaker {
 public:
  // planes: where node n is made.
  ChainMaker(const KernelContext& of, const Planes& planes, int n) : of_(of), planes_(planes) {
    fits_ = add({false, n}) >= 0;
    if (fits_) measure();
  }
  std::optional<Chain> made() { return fits_ ? std::optional(std::move(chain_)) : std::nullopt; }

 private:
  const StripValue& at(int v) const { return chain_.values[static_cast<std::size_t>(v)]; }
  StripValue& at(int v) { return chain_.values[static_cast<std::size_t>(v)]; }
  int add(const Operand& operand);
  int add_for_neighbourhood(const Operand& operand);
  int push(StripValue value);
  bool add_node(int n, StripValue& value);
  bool read_by_neighbourhood(int from, const Footprint& f, Border border) const;
  void measure();
  // Of neighbourhoods side by side: whether blocks do not make each of its packed bytes.
  bool pays_side_by_side() const;
  // Of one neighbourhood: whether points are made before it, which blocks make again around theirs.
  bool pays_alone() const;

  const KernelContext& of_;
  const Planes& planes_;
  Chain chain_;
  bool fits_ = false;
  bool reads_twice_ = false;
  std::map<std::string, int> places_;
};

int ChainMaker::add(const Operand& operand) {
  const std::string name = name_of(operand);
  if (const auto known = places_.find(name); known != places_.end()) return known->second;
  const bool plane = planes_.has(operand);
  StripValue value{.operand = operand, .name = "a_" + name, .pure = plane};
  if (!plane && !add_node(operand.index, value)) return -1;
  return places_[name] = push(std::move(value));
}

// A plane that another neighbourhood reads is read once more: its rows are due at another time.
int ChainMaker::add_for_neighbourhood(const Operand& operand) {
  const int from = add(operand);
  if (from < 0 || at(from).kind != StripValue::Kind::plane || at(from).reader < 0) return from;
  reads_twice_ = true;
  const std::string name = at(from).name + "_" + std::to_string(chain_.values.size());
  return push({.operand = operand, .name = name, .pure = true});
}

int ChainMaker::push(StripValue value) {
  chain_.values.push_back(std::move(value));
  return static_cast<int>(chain_.values.size()) - 1;
}

bool ChainMaker::add_node(int n, StripValue& value) {
  const Node& node = of_.node(n);
  value.node = n;
  if (const auto* point = as<Point>(node)) {
    value.kind = StripValue::Kind::point;
    if (point->lookup || node.images.empty()) return false;
    if (const std::optional<Operand> source = coded_by(of_, planes_, {false, n})) {
      value.from = {add(*source)};
      if (value.from[0] < 0) return false;
      value.pure = at(value.from[0]).pure;
      return true;
    }
    value.pure = point->expression == nullptr;
    for (const Operand& image : node.images) {
      value.from.push_back(add(image));
      if (value.from.back() < 0) return false;
      value.pure = value.pure && at(value.from.back()).pure;
    }
    return true;
  }
  int from = -1;
  if (const auto* stencil = as<Stencil>(node)) {
    if (!stays(*stencil) || stencil->combine != Combine::sum) return false;
    value.kind = StripValue::Kind::stencil;
    value.reach = stencil->footprint();
    value.border = stencil->border;
    from = add_for_neighbourhood(node.images[0]);
  } else if (const auto* separable = as<Separable>(node)) {
    if (!stays(*separable)) return false;
    StripValue rows{.kind = StripValue::Kind::rows,
                    .node = n,
                    .operand = value.operand,
                    .name = value.name + "_rows",
                    .from = {add_for_neighbourhood(node.images[0])},
                    .reach = separable->row.footprint(),
                    .border = separable->border};
    if (!read_by_neighbourhood(rows.from[0], rows.reach, rows.border)) return false;
    from = push(std::move(rows));
    StripValue& source = at(chain_.values.back().from[0]);
    source.reader = from;
    chain_.values.back().pure = source.pure;
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
  value.sums = weights && (value.border == Border::constant || at(from).pure);
  value.from = {from};
  at(from).reader = static_cast<int>(chain_.values.size());
  return true;
}

bool ChainMaker::read_by_neighbourhood(int from, const Footprint& f, Border border) const {
  const bool known = border == Border::constant || border == Border::replicate;
  return from >= 0 && known && std::min({f.left, f.right, f.up, f.down}) >= 0 &&
         at(from).reader < 0;
}

void ChainMaker::measure() {
  int neighbourhoods = 0, registers = 0;
  for (std::size_t v = chain_.values.size(); v-- > 0;) {
    const StripValue& value = chain_.values[v];
    for (const int from : value.from) {
      Footprint& need = at(from).need;
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
    chain_.tallest = std::max(chain_.tallest, value.reach.up + 1 + value.reach.down);
    chain_.up = std::max(chain_.up, value.need.up);
    chain_.down = std::max(chain_.down, value.need.down);
  }
  for (StripValue& value : chain_.values) {
    for (const int from : value.from) {
      value.lag = std::max(value.lag, at(from).lag + value.reach.down);
    }
  }
  fits_ = fits_ && (neighbourhoods >= 2 ? pays_side_by_side() : pays_alone()) &&
          registers <= max_values &&
          chain_.tallest * static_cast<int>(chain_.values.size()) <= max_text &&
          (!reads_twice_ || chain_.nested());
  chain_.dense = registers <= max_dense;
}

bool ChainMaker::pays_side_by_side() const {
  return chain_.nested() || std::ranges::any_of(chain_.values, [&](const StripValue& value) {
           const bool around =
               value.kind == StripValue::Kind::stencil || value.kind == StripValue::Kind::columns;
           return around && !takes_packed(of_, planes_, value.node);
         });
}

bool ChainMaker::pays_alone() const {
  bool points = false;
  for (const StripValue& value : chain_.values) {
    const bool point = value.kind == StripValue::Kind::point;
    // A body that goes over its window by itself is as long as it is.
    const auto* stencil =
        value.kind == StripValue::Kind::stencil ? as<Stencil>(of_.node(value.node)) : nullptr;
    if (stencil != nullptr && stencil->body != nullptr && !whole_body(stencil->body->text)) {
      return false;
    }
    if (value.kind == StripValue::Kind::columns && passes_in_block(of_, value.node)) return false;
    if (point && take_long(of_, planes_, {false, value.node})) return false;
    points = points || (point && value.reader >= 0);
  }
  return points;
}

}  // namespace

std::vector<int> Chain::inside(int n) const {
  std::vector<int> nodes;
  for (const StripValue& value : values) {
    if (value.kind != StripValue::Kind::plane && value.node != n) nodes.push_back(value.node);
  }
  return nodes;
}

std::vector<int> Chain::planes() const {
  std::vector<int> nodes;
  for (const StripValue& value : values) {
    const bool plane = value.kind == StripValue::Kind::plane;
    if (plane && !value.operand.external) nodes.push_back(value.operand.index);
  }
  return nodes;
}

bool Chain::nested() const {
  return std::any_of(values.begin(), values.end(), [](const StripValue& value) {
    const bool around =
        value.kind == StripValue::Kind::stencil || value.kind == StripValue::Kind::columns;
    return around && value.need != Footprint{};
  });
}

bool makes_chains(Dialect dialect, const Tuning& tuning) {
  return tuning.strip_rows > 0 && features_of(dialect).uneven_loops;
}

std::optional<Chain> chain_of(const KernelContext& of, const Planes& planes, int n) {
  if (!makes_chains(of.dialect, of.tuning)) return std::nullopt;
  const Planes others = planes.without(n);
  return ChainMaker(of, others, n).made();
}

}  // namespace impipe::jit
