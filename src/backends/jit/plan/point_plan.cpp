// What decisions ask about the points that make what a kernel reads.
#include "backends/jit/plan/point_plan.hpp"

#include <algorithm>
#include <functional>

#include "core/body_tree.hpp"
#include "core/expression.hpp"

namespace impipe::jit {
namespace {

// Whether nothing but its pixel's planes makes an operand's pixel.
bool is_placeless(const KernelContext& of, const Planes& planes, const Operand& operand) {
  if (planes.has(operand)) return true;
  const auto* point = as<Point>(of.node(operand.index));
  if (point == nullptr) return false;
  if (point->expression != nullptr &&
      (point->expression->uses("col") || point->expression->uses("row"))) {
    return false;
  }
  const auto images = pixel_images(of.node(operand.index));
  return std::all_of(images.begin(), images.end(),
                     [&](const Operand& image) { return is_placeless(of, planes, image); });
}

// What a point's pixel calls for.
struct Calls {
  bool powers = false, quotients = false;
};

Calls calls_of(const KernelContext& of, int n) {
  const auto& point = *as<Point>(of.node(n));
  Calls calls;
  if (point.expression != nullptr) {
    for (const ExpressionNode& e : point.expression->nodes()) {
      calls.powers = calls.powers || e.op == ExpressionOp::power;
      calls.quotients = calls.quotients || e.op == ExpressionOp::divide;
    }
  } else if (point.body != nullptr) {
    const BodyTraits traits = traits_of(*point.body);
    calls = {traits.powers, traits.quotients};
  }
  return calls;
}

// Whether a point's pixel takes more steps than to read a table: 26 behind a box of bytes took 50
// us and a table 33.
bool takes_many_steps(const KernelContext& of, int n) {
  constexpr int most = 12;
  const auto& point = *as<Point>(of.node(n));
  if (point.expression != nullptr) return point.expression->nodes().size() > 2 * most;
  if (point.body == nullptr) return false;
  const std::optional<BodyTrees> trees = whole_body(point.body->text);
  return !trees || steps_of(*trees) > most;
}

// What comes after an operand that is looked up, if anything does: to read a table takes more than
// other points do.
struct After {
  bool slow_points = false;  // behind a neighbourhood, whose kernel they fill
  bool long_points = false;
};

std::optional<Operand> codes_of(const KernelContext& of, const Planes& planes,
                                const Operand& operand, After after) {
  const bool bytes = bytes_of(of.cls(operand)) == 1;
  if (planes.has(operand)) return bytes ? std::optional(operand) : std::nullopt;
  const Node& node = of.node(operand.index);
  const Point* point = as<Point>(node);
  const bool pays = point == nullptr ? after.slow_points || moves(node) : after.long_points;
  const std::optional<Operand> made = bytes && pays ? std::optional(operand) : std::nullopt;
  if (point == nullptr) return made;
  if (point->lookup && !node.images[1].external) return made;
  if (point->expression != nullptr &&
      (point->expression->uses("col") || point->expression->uses("row"))) {
    return made;
  }
  after.long_points = after.long_points || takes_long(of, operand.index);
  after.slow_points = after.slow_points || after.long_points || in_double(of, operand.index) ||
                      takes_many_steps(of, operand.index);
  std::optional<Operand> codes;
  for (const Operand& image : pixel_images(node)) {
    const std::optional<Operand> found = codes_of(of, planes, image, after);
    if (!found || (codes && *codes != *found)) return made;
    codes = found;
  }
  return codes;
}

}  // namespace

bool raises_powers(const KernelContext& of, int n) { return calls_of(of, n).powers; }

bool takes_long(const KernelContext& of, int n) {
  const Calls calls = calls_of(of, n);
  return calls.powers ||
         (in_double(of, n) && (calls.quotients || pixel_images(of.node(n)).size() > 2));
}

std::optional<Operand> coded_by(const KernelContext& of, const Planes& planes,
                                const Operand& operand) {
  return codes_of(of, planes, operand, {});
}

int tables_of(const KernelContext& of, const Planes& planes, const Operand& operand) {
  if (planes.has(operand) || as<Point>(of.node(operand.index)) == nullptr) return 0;
  if (const auto codes = coded_by(of, planes, operand)) return 1 + tables_of(of, planes, *codes);
  int count = 0;
  for (const Operand& image : pixel_images(of.node(operand.index))) {
    count += tables_of(of, planes, image);
  }
  return count;
}

bool made_here(const KernelContext& of, const Planes& planes, const Operand& operand) {
  return !planes.has(operand) && as<Point>(of.node(operand.index)) != nullptr;
}

bool passes_on(const KernelContext& of, int n) {
  const Node& node = of.node(n);
  const auto* point = as<Point>(node);
  if (point == nullptr || point->body == nullptr || point->lookup || point->in_table ||
      node.images.size() != 1 || node.cls != of.cls(node.images[0])) {
    return false;
  }
  const std::optional<BodyTrees> trees = whole_body(point->body->text);
  return trees && trees->locals.empty() && trees->result.kind == BodyTree::Kind::name &&
         names_in(point->body->input_names).front() == trees->result.name;
}

bool takes_few_steps(const KernelContext& of, int n) {
  constexpr int most_of_bytes = 4, most_of_others = 8;
  const Node& node = of.node(n);
  const auto* point = as<Point>(node);
  if (point == nullptr || point->body == nullptr || point->lookup || point->in_table ||
      node.images.size() != 1 || !node.images[0].external || node.cls != PixelClass::single ||
      in_double(of, n)) {
    return false;
  }
  const std::optional<BodyTrees> trees = whole_body(point->body->text);
  if (!trees || !trees->locals.empty()) return false;
  int steps = 0;
  const std::function<bool(const BodyTree&)> simple = [&](const BodyTree& part) {
    using Kind = BodyTree::Kind;
    if (part.kind == Kind::number || part.kind == Kind::name) return true;
    ++steps;
    const bool quick = part.kind == Kind::sum || part.kind == Kind::difference ||
                       part.kind == Kind::product || part.kind == Kind::negative ||
                       (part.kind == Kind::call && (part.name == "fma" || part.name == "floor"));
    return quick && std::all_of(part.parts.begin(), part.parts.end(), simple);
  };
  const bool bytes = bytes_of(of.cls(node.images[0])) == 1;
  return simple(trees->result) && steps <= (bytes ? most_of_bytes : most_of_others);
}

bool only_points(const KernelContext& of, const Planes& planes, const Operand& operand) {
  if (planes.has(operand)) return true;
  const Node& node = of.node(operand.index);
  const auto images = pixel_images(node);
  return as<Point>(node) != nullptr && !images.empty() &&
         std::all_of(images.begin(), images.end(),
                     [&](const Operand& image) { return only_points(of, planes, image); });
}

bool divides_or_raises(const KernelContext& of, int n) {
  const Calls calls = calls_of(of, n);
  return calls.powers || calls.quotients;
}

bool take_long(const KernelContext& of, const Planes& planes, const Operand& made) {
  const std::function<bool(const Operand&)> long_before = [&](const Operand& operand) {
    if (planes.has(operand) || coded_by(of, planes, operand)) return false;
    const Node& node = of.node(operand.index);
    if (as<Point>(node) == nullptr) return false;
    if (takes_long(of, operand.index)) return true;
    const auto images = pixel_images(node);
    return std::any_of(images.begin(), images.end(), long_before);
  };
  return long_before(made);
}

PointTile::PointTile(int element_bytes, Size of_group, const Footprint& f)
    : bytes(element_bytes), group(of_group), reach(f) {
  const auto columns = [&](int many) {
    return (std::max(f.left, f.right) + many - 1) / many * many;
  };
  // Many bytes at a time, but where a narrow group would make more columns beside its own for it.
  const int few = 8;
  px = bytes > 1 ? 4 : group.width >= 128 || columns(16) == columns(few) ? 16 : few;
  halo = columns(px);
  width = static_cast<int>(group.width) + 2 * halo;
  rows = static_cast<int>(group.height) + f.up + f.down;
}

std::int64_t PointTile::local_bytes(const KernelContext& of, const Planes& planes,
                                    const Operand& operand) const {
  return std::int64_t{bytes} * width * rows + table_bytes * tables_of(of, planes, operand);
}

Border rule_of_move(const Node& node) {
  const auto* window = as<Window>(node);
  return window == nullptr || window->border == Border::absent ? Border::replicate : window->border;
}

bool can_be_moved(const KernelContext& of, const Planes& planes, int n) {
  const Operand& image = of.node(n).images[0];
  // A frame's value is no value of the points before it.
  if (rule_of_move(of.node(n)) == Border::constant) return planes.has(image);
  return is_placeless(of, planes, image);
}

}  // namespace impipe::jit
