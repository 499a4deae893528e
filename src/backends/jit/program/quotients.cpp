// Looks for quotients in the trees of bodies.
#include "backends/jit/program/quotients.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace impipe::jit {
namespace {

using Kind = BodyTree::Kind;

bool is_call(const BodyTree& part, std::string_view name, std::size_t parts) {
  return part.kind == Kind::call && part.name == name && part.parts.size() == parts;
}

// Whether a part of a body divides by what is the same for every pixel.
bool is_over(const BodyTree& part) { return is_call(part, "over", 2); }

// What is known of the floats that a part of a body can be: multiples of 2^unit, up to 2^most.
struct Span {
  int unit = 0, most = 0;
};
using Known = std::map<std::string, Span, std::less<>>;
constexpr int bits_of_float = 24;
// Of dividends and divisors whose quotient and its rest stay far inside the range of floats.
constexpr int moderate = 60;

std::optional<Span> both(const std::optional<Span>& a, const std::optional<Span>& b, int more) {
  if (!a || !b) return std::nullopt;
  return Span{std::min(a->unit, b->unit), std::max(a->most, b->most) + more};
}

std::optional<Span> span_of(const BodyTree& part, const Known& known);

std::optional<Span> span_of_quotient(const BodyTree& part, const Known& known) {
  const std::optional<Span> a = span_of(part.parts[0], known), b = span_of(part.parts[1], known);
  if (!a || !b) return std::nullopt;
  // The least quotient, rounded.
  return Span{a->unit - b->most - bits_of_float, a->most - b->unit + 1};
}

std::optional<Span> span_of(const BodyTree& part, const Known& known) {
  const auto of = [&](std::size_t i) { return span_of(part.parts[i], known); };
  switch (part.kind) {
    case Kind::number: {
      if (part.number == 0) return Span{moderate, 0};
      const int exponent = std::ilogb(part.number);
      const bool whole = part.number == std::floor(part.number) && exponent < bits_of_float;
      return Span{whole ? 0 : exponent - bits_of_float, exponent + 1};
    }
    case Kind::name: {
      const auto found = known.find(part.name);
      return found == known.end() ? std::nullopt : std::optional(found->second);
    }
    case Kind::sum:
    case Kind::difference: return both(of(0), of(1), 1);
    case Kind::product: {
      const std::optional<Span> a = of(0), b = of(1);
      if (!a || !b) return std::nullopt;
      return Span{a->unit + b->unit, a->most + b->most};
    }
    case Kind::quotient: return span_of_quotient(part, known);
    case Kind::negative: return of(0);
    case Kind::choice: return both(of(1), of(2), 0);
    default: break;
  }
  if (is_over(part)) return span_of_quotient(part, known);
  if (is_call(part, "min", 2) || is_call(part, "max", 2)) return both(of(0), of(1), 0);
  if (is_call(part, "abs", 1)) return of(0);
  return std::nullopt;
}

bool is_moderate(const std::optional<Span>& span) {
  return span && span->unit >= -moderate && span->most <= moderate;
}

// Inputs, which are codes, or extrema of them: neither NaN nor -0, of which words of devices differ
// from the vocabulary's.
bool is_of_inputs(const BodyTree& part, const std::vector<std::string>& inputs) {
  if (part.kind == Kind::name)
    return std::find(inputs.begin(), inputs.end(), part.name) != inputs.end();
  return (is_call(part, "min", 2) || is_call(part, "max", 2)) &&
         std::all_of(part.parts.begin(), part.parts.end(),
                     [&](const BodyTree& of) { return is_of_inputs(of, inputs); });
}

// What is known in the body of a node of codes that is computed in floats.
std::optional<Known> known_of_codes(const KernelContext& of, const Node& node,
                                    const PointBody& body) {
  Known known;
  std::size_t image = 0;
  for (const std::string& input : names_in(body.input_names)) {
    const PixelClass cls = of.cls(node.images[image++]);
    if (!is_integer(cls)) return std::nullopt;
    known[input] = {0, 8 * bytes_of(cls)};
  }
  // Of codes: never far from their largest.
  if (known_white(node, body)) known["white"] = {-bits_of_float, 16};
  return known;
}

}  // namespace

bool is_over_white(const BodyTree& part) {
  return is_over(part) && part.parts[1].kind == Kind::name && part.parts[1].name == "white";
}

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
  if (!is_over_white(part) || !known_white(node, body)) return false;
  const std::vector<std::string> inputs = names_in(body.input_names);
  const auto input = std::find(inputs.begin(), inputs.end(), part.parts[0].name);
  return input != inputs.end() &&
         is_integer(of.cls(node.images[static_cast<std::size_t>(input - inputs.begin())]));
}

CodeQuotients quotients_of_codes(const KernelContext& of, const Node& node) {
  CodeQuotients out;
  const auto* point = as<Point>(node);
  if (point == nullptr || point->body == nullptr || point->lookup) return out;
  const std::optional<BodyTrees> trees = whole_body(point->body->text);
  std::optional<Known> known = known_of_codes(of, node, *point->body);
  if (!trees || !known) return out;
  const std::vector<std::string> inputs = names_in(point->body->input_names);
  const PartText other = [&](const BodyTree& part) -> std::string {
    if (const bool least = is_call(part, "min", 2); least || is_call(part, "max", 2)) {
      if (!is_of_inputs(part, inputs)) return "";
      return (least ? "fmin(" : "fmax(") + tree_text(part.parts[0], other) + ", " +
             tree_text(part.parts[1], other) + ")";
    }
    if (part.kind != Kind::quotient && !is_over(part)) return "";
    const BodyTree &a = part.parts[0], &b = part.parts[1];
    if (!is_moderate(span_of(a, *known)) || !is_moderate(span_of(b, *known))) {
      out.all = out.all && !is_over(part);
      return "";
    }
    out.found = true;
    const std::string dividend = tree_text(a, other), divisor = tree_text(b, other);
    if (b.kind == Kind::number && b.number != 0) {
      return "moderate_over(" + dividend + ", " + divisor + ", real(1) / " + divisor + ")";
    }
    if (b.kind == Kind::name && b.name == "white") {
      out.by_white = true;
      return "moderate_over(" + dividend + ", white, white_reciprocal)";
    }
    return "moderate_quotient(" + dividend + ", " + divisor + ")";
  };
  BodyTrees body = *trees;
  for (const auto& [name, tree] : body.locals) {
    if (const std::optional<Span> span = span_of(tree, *known)) (*known)[name] = *span;
  }
  out.text = body_text(body, other);
  return out;
}

std::optional<std::size_t> white_divided_by(const KernelContext& of, int n) {
  const Node& node = of.node(n);
  const PointBody& body = *as<Point>(node)->body;
  const std::optional<BodyTrees> trees = whole_body(body.text);
  if (in_double(of, n) || !trees) return std::nullopt;
  const std::function<bool(const BodyTree&)> by_others = [&](const BodyTree& part) {
    return (is_over(part) && !is_over_white(part)) || std::ranges::any_of(part.parts, by_others);
  };
  const bool others =
      by_others(trees->result) || std::ranges::any_of(trees->locals, [&](const auto& local) {
        return by_others(local.second);
      });
  return others ? std::nullopt : known_white(node, body);
}

bool divides_by_uniform(const KernelContext& of, int n) {
  const Node& node = of.node(n);
  const auto* point = as<Point>(node);
  if (point == nullptr || point->lookup || point->body == nullptr ||
      !traits_of(*point->body).divides_by_uniform || is_curve_of_codes(of, n)) {
    return false;
  }
  if (!in_double(of, n)) {
    const CodeQuotients quotients = quotients_of_codes(of, node);
    return !quotients.found || !quotients.all;
  }
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
