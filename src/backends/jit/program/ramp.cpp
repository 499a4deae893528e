// Looks for lines in the trees of bodies.
#include "backends/jit/program/quotients.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "core/body_tree.hpp"

namespace impipe::jit {
namespace {

using Kind = BodyTree::Kind;

// The same for every pixel; a line in the code; a line with limits.
enum class Shape { uniform, line, limited, other };

bool is_call(const BodyTree& tree, std::string_view name, std::size_t parts) {
  return tree.kind == Kind::call && tree.name == name && tree.parts.size() == parts;
}

BodyTree of(Kind kind, std::vector<BodyTree> parts, std::string name = "") {
  return {.kind = kind, .name = std::move(name), .parts = std::move(parts)};
}

class Ramps {
 public:
  explicit Ramps(const PointBody& body) {
    for (const std::string& input : names_in(body.input_names)) known_[input] = Shape::line;
    for (const std::string& own : names_in(body.parameter_names)) known_[own] = Shape::uniform;
  }

  std::optional<Ramp> found(const BodyTrees& body) {
    BodyTrees line, bound, ordered;
    for (const auto& [name, tree] : body.locals) {
      const Shape shape = known_[name] = shape_of(tree);
      const bool uniform = shape == Shape::uniform;
      line.locals.emplace_back(name, line_of(tree));
      bound.locals.emplace_back(name, uniform ? tree : bound_of(tree));
      if (uniform) ordered.locals.emplace_back(name, tree);
    }
    const Shape shape = shape_of(body.result);
    if ((shape != Shape::line && shape != Shape::limited) || operations_ > max_operations) {
      return std::nullopt;
    }
    line.result = line_of(body.result);
    bound.result = bound_of(body.result);
    ordered.result = {.kind = Kind::number, .name = "real(0)"};
    if (limits_) ordered.result = of(Kind::difference, {limits_->second, limits_->first});
    const PartText as_it_is = [](const BodyTree&) { return std::string(); };
    return Ramp{body_text(line, as_it_is), body_text(bound, as_it_is),
                body_text(ordered, as_it_is)};
  }

 private:
  // Each rounds once: the bound of pixel/ramp.cl is for fewer.
  static constexpr int max_operations = 16;

  Shape shape_of(const BodyTree& tree) {
    if (tree.kind == Kind::number) return Shape::uniform;
    if (tree.kind == Kind::name) {
      const auto known = known_.find(tree.name);
      return known == known_.end() ? Shape::other : known->second;
    }
    std::vector<Shape> parts;
    for (const BodyTree& part : tree.parts) parts.push_back(shape_of(part));
    const auto uniform = [](Shape shape) { return shape == Shape::uniform; };
    if (!parts.empty() && std::all_of(parts.begin(), parts.end(), uniform)) return Shape::uniform;
    if (tree.kind == Kind::negative) return parts[0];
    ++operations_;
    const bool both =
        tree.kind == Kind::sum || tree.kind == Kind::difference || tree.kind == Kind::product;
    if (both && uniform(parts[0])) return parts[1];
    const bool first = both || tree.kind == Kind::quotient || is_call(tree, "over", 2);
    if (first && uniform(parts[1])) return parts[0];
    if (is_call(tree, "clamp", 3) && parts[0] == Shape::line && uniform(parts[1]) &&
        uniform(parts[2]) && !limits_) {
      limits_ = {tree.parts[1], tree.parts[2]};
      return Shape::limited;
    }
    return Shape::other;
  }

  static BodyTree line_of(const BodyTree& tree) {
    if (is_call(tree, "clamp", 3)) return line_of(tree.parts[0]);
    BodyTree out = tree;
    for (BodyTree& part : out.parts) part = line_of(part);
    return out;
  }

  // Sums of sizes. What is the same for every pixel is known as it is.
  BodyTree bound_of(const BodyTree& tree) {
    if (shape_again(tree) == Shape::uniform) return of(Kind::call, {tree}, "abs");
    if (tree.kind == Kind::name) return tree;  // a code, or a local that is a bound itself
    if (tree.kind == Kind::negative) return bound_of(tree.parts[0]);
    BodyTree out = tree;
    for (BodyTree& part : out.parts) part = bound_of(part);
    if (tree.kind == Kind::difference) out.kind = Kind::sum;
    if (is_call(tree, "clamp", 3)) {
      return of(Kind::sum, {of(Kind::sum, {out.parts[0], out.parts[1]}), out.parts[2]});
    }
    return out;
  }
  // Without counting.
  Shape shape_again(const BodyTree& tree) {
    Ramps again = *this;
    again.limits_.reset();
    return again.shape_of(tree);
  }

  std::map<std::string, Shape> known_;
  std::optional<std::pair<BodyTree, BodyTree>> limits_;
  int operations_ = 0;
};

}  // namespace

std::optional<Ramp> ramp_of(const KernelContext& of, int n) {
  const Node& node = of.node(n);
  const auto* point = as<Point>(node);
  const bool codes = node.cls == PixelClass::uint8 || node.cls == PixelClass::uint16;
  if (!of.tuning.fast || point == nullptr || point->body == nullptr || point->in_table || !codes ||
      node.images.size() != 1 || point->body->inputs != 1 ||
      of.cls(node.images[0]) != PixelClass::uint16 || !in_double(of, n) ||
      !divides_by_uniform(of, n)) {
    return std::nullopt;
  }
  const std::optional<BodyTrees> trees = whole_body(point->body->text);
  return trees ? Ramps(*point->body).found(*trees) : std::nullopt;
}

}  // namespace impipe::jit
