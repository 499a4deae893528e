// Looks for quotients in the trees of bodies.
#include "backends/jit/program/quotients.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace impipe::jit {
namespace {

// Whether a part of a body divides by what is the same for every pixel.
bool is_over(const BodyTree& part) {
  return part.kind == BodyTree::Kind::call && part.name == "over" && part.parts.size() == 2;
}

}  // namespace

std::optional<std::size_t> known_white(const Node& node, const PointBody& body) {
  const std::vector<std::string> labels = names_in(body.parameter_names);
  const auto white = std::find(labels.begin(), labels.end(), "white");
  const auto place = static_cast<std::size_t>(white - labels.begin());
  const bool known =
      white != labels.end() && node.arguments[place].source == Argument::Source::constant;
  return known ? std::optional(place) : std::nullopt;
}

bool is_code_over_white(const KernelContext& of, const Node& node, const BodyTree& part) {
  const PointBody& body = *as<Point>(node)->body;
  if (!is_over(part) || part.parts[1].kind != BodyTree::Kind::name ||
      part.parts[1].name != "white" || !known_white(node, body)) {
    return false;
  }
  const std::vector<std::string> inputs = names_in(body.input_names);
  const auto input = std::find(inputs.begin(), inputs.end(), part.parts[0].name);
  return input != inputs.end() &&
         is_integer(of.cls(node.images[static_cast<std::size_t>(input - inputs.begin())]));
}

bool divides_by_uniform(const KernelContext& of, int n) {
  const Node& node = of.node(n);
  const auto* point = as<Point>(node);
  if (point == nullptr || point->lookup || point->body == nullptr ||
      !traits_of(*point->body).divides_by_uniform) {
    return false;
  }
  if (!in_double(of, n)) return true;
  const bool codes = std::all_of(node.images.begin(), node.images.end(),
                                 [&](const Operand& i) { return is_integer(of.cls(i)); });
  const std::optional<BodyTrees> trees = whole_body(point->body->text);
  if (!codes || !trees) return false;
  const std::function<bool(const BodyTree&)> divides = [&](const BodyTree& part) {
    return (is_over(part) && !is_code_over_white(of, node, part)) ||
           std::any_of(part.parts.begin(), part.parts.end(), divides);
  };
  return divides(trees->result) ||
         std::any_of(trees->locals.begin(), trees->locals.end(),
                     [&](const auto& local) { return divides(local.second); });
}

}  // namespace impipe::jit
