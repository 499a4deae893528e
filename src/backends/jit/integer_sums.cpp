// Reads a stencil's body as a tree, follows the range of every value, and cuts the sums out.
#include "backends/jit/integer_sums.hpp"

#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>

#include "backends/jit/text.hpp"
#include "core/error.hpp"
#include "core/expression.hpp"
#include "core/text.hpp"

namespace impipe::jit {
namespace {

struct Value;
using Tree = std::shared_ptr<const Value>;

// Part of a stencil's value.
struct Value {
  ExpressionOp op = ExpressionOp::number;
  double number = 0;
  Tap tap;
  std::string parameter;  // of a variable
  std::vector<Tree> operands;
  bool whole = false;  // a whole number in [low, high], exact as a float
  bool sum = false;    // of taps with whole weights
  double low = 0, high = 0;
};

constexpr double exact_floats = 16777216;  // whole numbers up to here are exact
constexpr double lane_range = 65535;

Tree leaf_of(double number) {
  Value v{.number = number};
  v.whole = number == std::floor(number) && std::abs(number) < exact_floats;
  v.low = v.high = number;
  return std::make_shared<Value>(v);
}

Tree tap_of(Tap tap) {
  return std::make_shared<Value>(
      Value{.op = ExpressionOp::tap, .tap = tap, .whole = true, .sum = true, .high = 255});
}

void follow_range(Value& v) {
  for (const Tree& operand : v.operands) {
    if (!operand->whole) return;
  }
  const Value& a = *v.operands[0];
  const Value& b = *v.operands.back();
  const auto is_number = [](const Value& of) { return of.op == ExpressionOp::number; };
  switch (v.op) {
    case ExpressionOp::add:
      v.low = a.low + b.low;
      v.high = a.high + b.high;
      v.sum = a.sum && b.sum;
      break;
    case ExpressionOp::subtract:
      v.low = a.low - b.high;
      v.high = a.high - b.low;
      v.sum = a.sum && b.sum;
      break;
    case ExpressionOp::negate:
      v.low = -a.high;
      v.high = -a.low;
      v.sum = a.sum;
      break;
    case ExpressionOp::multiply: {
      const double ends[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
      v.low = v.high = ends[0];
      for (const double end : ends) {
        v.low = std::min(v.low, end);
        v.high = std::max(v.high, end);
      }
      // A square is not negative.
      if (v.operands[0] == v.operands[1]) v.low = std::max(v.low, 0.0);
      v.sum = (is_number(a) && b.sum) || (is_number(b) && a.sum);
      break;
    }
    default:
      return;
  }
  v.whole = std::max(std::abs(v.low), std::abs(v.high)) < exact_floats;
  v.sum = v.sum && v.whole && v.high - v.low <= lane_range;
}

// The tree of an expression whose variables are `named`.
Tree tree_of(const Expression& expression, const std::map<std::string, Tree>& named) {
  std::vector<Tree> made;
  for (const ExpressionNode& node : expression.nodes()) {
    if (node.op == ExpressionOp::number) {
      made.push_back(leaf_of(node.number));
    } else if (node.op == ExpressionOp::tap) {
      made.push_back(tap_of(expression.taps()[static_cast<std::size_t>(node.index)]));
    } else if (node.op == ExpressionOp::variable) {
      const auto it = named.find(expression.variables()[static_cast<std::size_t>(node.index)]);
      if (it == named.end()) return nullptr;
      made.push_back(it->second);
    } else {
      Value v{.op = node.op};
      for (const int operand : node.operands) {
        if (operand >= 0) v.operands.push_back(made[static_cast<std::size_t>(operand)]);
      }
      follow_range(v);
      made.push_back(std::make_shared<Value>(v));
    }
  }
  return made.back();
}

// The value of a body: `const real NAME = EXPRESSION;` any number of times, `return EXPRESSION;`.
Tree tree_of(const StencilBody& body) {
  std::map<std::string, Tree> named;
  ExpressionNames names{.known = {}, .others = false, .taps = true};
  for (const std::string& parameter : names_in(body.parameter_names)) {
    named[parameter] =
        std::make_shared<Value>(Value{.op = ExpressionOp::variable, .parameter = parameter});
    names.known.push_back(parameter);
  }
  std::string text = body.text;
  const std::size_t open = text.find('{'), close = text.rfind('}');
  if (open == std::string::npos) return nullptr;
  text = text.substr(open + 1, close - open - 1);
  for (std::size_t at = 0; (at = text.find("real(", at)) != std::string::npos;) text.erase(at, 4);
  while (true) {
    text.erase(0, text.find_first_not_of(' '));
    const std::size_t end = text.find(';');
    if (end == std::string::npos) return nullptr;
    const std::string statement = text.substr(0, end);
    text.erase(0, end + 1);
    constexpr std::string_view constant = "const real ", result = "return ";
    const bool last = statement.starts_with(result);
    const std::size_t equals = statement.find('=');
    if (!last && (!statement.starts_with(constant) || equals == std::string::npos)) return nullptr;
    Tree value;
    try {
      value = tree_of(parse_expression(statement.substr(last ? result.size() : equals + 1), names),
                      named);
    } catch (const Error&) {
      return nullptr;  // C that expressions don't have
    }
    if (value == nullptr || last) return value;
    std::string name = statement.substr(constant.size(), equals - constant.size());
    name.erase(name.find_last_not_of(' ') + 1);
    named[name] = value;
    names.known.push_back(name);
  }
}

// A sum of lanes; each lane may leave [0, 65535] on the way, the word is right modulo 2^32.
std::string lanes_text(const Value& v, const TapText& tap) {
  const auto operand = [&](std::size_t i) { return lanes_text(*v.operands[i], tap); };
  switch (v.op) {
    case ExpressionOp::tap:
      return tap(v.tap.dx, v.tap.dy);
    case ExpressionOp::number:
      return "(uint)" + std::to_string(static_cast<int>(v.number));
    case ExpressionOp::negate:
      return "(0u - " + operand(0) + ")";
    case ExpressionOp::add:
      return "(" + operand(0) + " + " + operand(1) + ")";
    case ExpressionOp::subtract:
      return "(" + operand(0) + " - " + operand(1) + ")";
    default:
      return "(" + operand(0) + " * " + operand(1) + ")";
  }
}

class Cutter {
 public:
  std::vector<IntegerSum> sums;
  bool known = true;

  std::string text(const Tree& tree) {
    const Value& v = *tree;
    if (v.sum) return sum(tree);
    const auto operand = [&](std::size_t i) { return text(v.operands[i]); };
    const auto infix = [&](const char* sign) {
      return "(" + operand(0) + " " + sign + " " + operand(1) + ")";
    };
    switch (v.op) {
      case ExpressionOp::number: {
        char digits[40];
        std::snprintf(digits, sizeof digits, "real(%.17g)", v.number);
        return digits;
      }
      case ExpressionOp::variable:
        return v.parameter;
      case ExpressionOp::negate:
        return "(-" + operand(0) + ")";
      case ExpressionOp::add:
        return infix("+");
      case ExpressionOp::subtract:
        return infix("-");
      case ExpressionOp::multiply:
        return infix("*");
      case ExpressionOp::divide:
        return infix("/");
      case ExpressionOp::abs:
        return "abs(" + operand(0) + ")";
      case ExpressionOp::sqrt: {
        const Value& of = *v.operands[0];
        return (of.whole && of.low >= 0 ? "ROOT_OF_WHOLE(" : "sqrt(") + operand(0) + ")";
      }
      case ExpressionOp::max:
        return "max(" + operand(0) + ", " + operand(1) + ")";
      case ExpressionOp::min:
        return "min(" + operand(0) + ", " + operand(1) + ")";
      default:
        known = false;
        return "";
    }
  }

 private:
  std::string sum(const Tree& tree) {
    const auto found = names_.find(tree.get());
    if (found != names_.end()) return found->second;
    const std::string name = "vsum" + std::to_string(sums.size());
    const int bias = std::max(0, static_cast<int>(-tree->low));
    sums.push_back({[tree, bias](const TapText& tap) {
                      return lanes_text(*tree, tap) +
                             (bias == 0 ? "" : " + " + std::to_string(bias) + " * 0x10001u");
                    },
                    bias});
    return names_[tree.get()] = name;
  }

  std::map<const Value*, std::string> names_;
};

}  // namespace

std::optional<IntegerSums> integer_sums(const Stencil& stencil) {
  if (stencil.grow_x != 0 || stencil.grow_y != 0 || stencil.shift_x != 0 || stencil.shift_y != 0) {
    return std::nullopt;
  }
  Tree tree;
  if (stencil.body != nullptr) {
    tree = tree_of(*stencil.body);
  } else if (stencil.expression != nullptr) {
    tree = tree_of(*stencil.expression, {{"x", tap_of({0, 0})}});
  }
  if (tree == nullptr) return std::nullopt;
  Cutter cutter;
  std::string rest = cutter.text(tree);
  if (!cutter.known || cutter.sums.empty()) return std::nullopt;
  return IntegerSums{std::move(cutter.sums), std::move(rest)};
}

}  // namespace impipe::jit
