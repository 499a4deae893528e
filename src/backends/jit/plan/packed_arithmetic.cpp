// Ranges of sums in the halves of words, and the text of what they allow.
#include "backends/jit/plan/packed_arithmetic.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"

namespace impipe::jit {
namespace {

using Kind = BodyTree::Kind;

constexpr int max_half = 65535;

// The same number in both halves.
std::string twice(int value) {
  return std::to_string(static_cast<unsigned>(value) * 0x10001u) + "u";
}

bool is_factor(const BodyTree& tree) {
  return tree.kind == Kind::number && tree.number >= 1 && tree.number <= 256 &&
         tree.number == std::floor(tree.number);
}

// left - right, with the halves kept from falling below 0.
PackedSum difference(const PackedSum& left, const PackedSum& right) {
  return {"(" + left.text + " + " + twice(right.high) + " - " + right.text + ")",
          left.high + right.high, left.bias - right.bias + right.high};
}

}  // namespace

std::optional<PackedSum> packed_sum(const BodyTree& tree, const PackedLeaf& leaf) {
  std::optional<PackedSum> made;
  switch (tree.kind) {
    case Kind::tap:
    case Kind::name: return leaf(tree);
    case Kind::sum:
    case Kind::difference: {
      const auto left = packed_sum(tree.parts[0], leaf);
      const auto right = packed_sum(tree.parts[1], leaf);
      if (!left || !right) return std::nullopt;
      made = tree.kind == Kind::difference
                 ? difference(*left, *right)
                 : PackedSum{"(" + left->text + " + " + right->text + ")", left->high + right->high,
                             left->bias + right->bias};
      break;
    }
    case Kind::product: {
      // No factor below 0: a product would be -0 where the number is 0.
      const bool first = is_factor(tree.parts[0]);
      if (!first && !is_factor(tree.parts[1])) return std::nullopt;
      const int factor = static_cast<int>(tree.parts[first ? 0 : 1].number);
      const auto other = packed_sum(tree.parts[first ? 1 : 0], leaf);
      if (!other) return std::nullopt;
      made = PackedSum{"(" + std::to_string(factor) + "u * " + other->text + ")",
                       factor * other->high, factor * other->bias};
      break;
    }
    default: return std::nullopt;
  }
  return made->high <= max_half ? made : std::nullopt;
}

std::optional<std::string> packed_condition(const BodyTree& tree, const PackedLeaf& leaf,
                                            const UniformText& uniform) {
  if (tree.kind == Kind::either || tree.kind == Kind::both) {
    const auto left = packed_condition(tree.parts[0], leaf, uniform);
    const auto right = packed_condition(tree.parts[1], leaf, uniform);
    if (!left || !right) return std::nullopt;
    return "(" + *left + (tree.kind == Kind::either ? " | " : " & ") + *right + ")";
  }
  if (const std::string text = uniform(tree); !text.empty()) {
    return "(" + text + " ? 0x10001u : 0u)";
  }
  if (tree.kind != Kind::greater) return std::nullopt;
  const auto left = packed_sum(tree.parts[0], leaf);
  const auto right = packed_sum(tree.parts[1], leaf);
  if (!left || !right) return std::nullopt;
  // d > 0 as a bit: with 2^bit - 1 more, d is at least 2^bit, and below 2^(bit + 1).
  const PackedSum d = difference(*left, *right);
  int bit = 0;
  while ((1 << bit) < d.high - d.bias || (1 << bit) - 1 < d.bias) ++bit;
  const int more = (1 << bit) - 1 - d.bias;
  if (d.high + more > max_half) return std::nullopt;
  return "(((" + d.text + " + " + twice(more) + ") >> " + std::to_string(bit) + ") & 0x10001u)";
}

std::string saturated_packed(const PackedSum& sum) {
  std::string text = sum.text;
  if (sum.bias > 0) {
    text = "(packed_max(" + text + ", " + twice(sum.bias) + ") - " + twice(sum.bias) + ")";
  }
  if (sum.high - sum.bias > 255) text = "packed_min(" + text + ", " + twice(255) + ")";
  return text;
}

std::optional<Range> range_of(const BodyTree& tree, const LeafRange& leaf) {
  if (tree.kind == Kind::name || tree.kind == Kind::tap) return leaf(tree);
  if (tree.kind == Kind::number) {
    return Range{tree.number, tree.number, tree.number == std::floor(tree.number)};
  }
  if (tree.kind != Kind::sum && tree.kind != Kind::difference && tree.kind != Kind::product) {
    return std::nullopt;
  }
  const auto a = range_of(tree.parts[0], leaf), b = range_of(tree.parts[1], leaf);
  if (!a || !b) return std::nullopt;
  const bool whole = a->whole && b->whole;
  if (tree.kind == Kind::sum) return Range{a->low + b->low, a->high + b->high, whole};
  if (tree.kind == Kind::difference) return Range{a->low - b->high, a->high - b->low, whole};
  const auto [low, high] =
      std::minmax({a->low * b->low, a->low * b->high, a->high * b->low, a->high * b->high});
  const bool square = tree.parts[0].kind == Kind::name && tree.parts[1].kind == Kind::name &&
                      tree.parts[0].name == tree.parts[1].name;
  return Range{square ? 0 : low, high, whole};
}

std::optional<std::string> packed_point(const Node& node, const PackedImage& image,
                                        const TextOfParameter& parameter) {
  const Point& point = std::get<Point>(node.primitive);
  const bool plain =
      point.body != nullptr && !point.lookup && !point.in_table && bytes_of(node.cls) == 1;
  const std::optional<BodyTrees> trees = plain ? parsed_body(point.body->text) : std::nullopt;
  if (!trees || !trees->locals.empty()) return std::nullopt;
  const std::vector<std::string> inputs = names_in(point.body->input_names);
  const std::vector<std::string> labels = names_in(point.body->parameter_names);
  const auto place_of = [](const std::vector<std::string>& names, const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const PackedLeaf leaf = [&](const BodyTree& tree) -> std::optional<PackedSum> {
    const std::size_t place = place_of(inputs, tree.name);
    const std::string text = place < inputs.size() ? image(place) : "";
    return text.empty() ? std::nullopt : std::optional(PackedSum{text, 255, 0});
  };
  const UniformText uniform = [&](const BodyTree& tree) -> std::string {
    if (tree.kind != Kind::equal || tree.parts[1].kind != Kind::number) return "";
    const std::size_t place = place_of(labels, tree.parts[0].name);
    if (place == labels.size()) return "";
    return parameter(place) + " == (double)" + number_text(tree.parts[1].number);
  };
  const auto is_number = [](const BodyTree& tree, double value) {
    return tree.kind == Kind::number && tree.number == value;
  };
  const BodyTree& result = trees->result;
  if (result.kind == Kind::choice) {
    if (!is_number(result.parts[1], 1) || !is_number(result.parts[2], 0)) return std::nullopt;
    return packed_condition(result.parts[0], leaf, uniform);
  }
  const auto sum = node.cls == PixelClass::uint8 ? packed_sum(result, leaf) : std::nullopt;
  return sum ? std::optional(saturated_packed(*sum)) : std::nullopt;
}

bool is_root_of_whole(const BodyTree& tree, const LeafRange& leaf) {
  if (tree.kind != Kind::root) return false;
  const auto range = range_of(tree.parts[0], leaf);
  return range && range->whole && range->low >= 0 && range->high < (1 << 24);
}

std::string float_text(const BodyTree& tree, const LeafRange& leaf) {
  const auto part = [&](int i) {
    return float_text(tree.parts[static_cast<std::size_t>(i)], leaf);
  };
  const auto two = [&](const char* sign) { return "(" + part(0) + sign + part(1) + ")"; };
  switch (tree.kind) {
    case Kind::number: return "real(" + number_text(tree.number) + ")";
    case Kind::name: return tree.name;
    case Kind::tap: return "at(" + std::to_string(tree.dx) + ", " + std::to_string(tree.dy) + ")";
    case Kind::sum: {
      // A product of whole numbers below 2^24 is no different when it is not rounded.
      const auto product = range_of(tree.parts[1], leaf);
      const bool exact =
          product && product->whole && std::max(-product->low, product->high) < (1 << 24);
      if (tree.parts[1].kind != Kind::product || !exact) return two(" + ");
      const std::vector<BodyTree>& factors = tree.parts[1].parts;
      return "fma(" + float_text(factors[0], leaf) + ", " + float_text(factors[1], leaf) + ", " +
             part(0) + ")";
    }
    case Kind::difference: return two(" - ");
    case Kind::product: return two(" * ");
    case Kind::greater: return two(" > ");
    case Kind::equal: return two(" == ");
    case Kind::either: return two(" || ");
    case Kind::both: return two(" && ");
    case Kind::choice: return "(" + part(0) + " ? " + part(1) + " : " + part(2) + ")";
    case Kind::root:
      return (is_root_of_whole(tree, leaf) ? "regular_root(" : "sqrt(") + part(0) + ")";
    default: break;  // parsed_body knows no others
  }
  return "";
}

}  // namespace impipe::jit
