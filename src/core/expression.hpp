// A user's own body: the expression of `map 'x * 2'`, parsed and checked, never pasted.
//
//     expression := or [ '?' expression ':' expression ]
//     or, and, ==  !=, <  <=  >  >=, +  -, *  /     as in C, weakest first, from the left
//     unary      := ( '-' | '+' | '!' ) unary | primary [ '^' unary ]     so -x^2 is -(x^2)
//     primary    := number | name | pi | function '(' … ')' | at '(' dx ',' dy ')' | '(' … ')'
//
// MATLAB's ~ ~= & | .* ./ .^ are read as ! != && || * / ^. A comparison gives 0 or 1; whatever is
// not 0 is true. min and max take two or more values. round is half away from zero.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace impipe {

enum class ExpressionOp : std::uint8_t {
  number,
  variable,
  tap,  // leaves
  negate,
  logical_not,  // of one value
  add,
  subtract,
  multiply,
  divide,
  power,  // of two
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  select,  // condition ? first : second
  min,
  max,
  abs,
  sqrt,
  floor,
  ceil,
  round,
  exp,
  log,
  sin,
  cos,
  tan,
  atan2,
  clamp,
};

// Where at(dx, dy) reads: the pixel dx to the right and dy down of the output's.
struct Tap {
  int dx = 0;
  int dy = 0;
  bool operator==(const Tap&) const = default;
};

struct ExpressionNode {
  ExpressionOp op = ExpressionOp::number;
  double number = 0;                        // of a number
  int index = 0;                            // of a variable or tap: which
  std::array<int, 3> operands{-1, -1, -1};  // earlier nodes
  bool operator==(const ExpressionNode&) const = default;
};

class Expression {
 public:
  // Operands before their operators; the last node is the value.
  const std::vector<ExpressionNode>& nodes() const { return nodes_; }
  // The names used, in the order of their first use.
  const std::vector<std::string>& variables() const { return variables_; }
  bool uses(std::string_view variable) const;
  // The distinct offsets used, in the order of their first use.
  const std::vector<Tap>& taps() const { return taps_; }
  // The largest |dx| and |dy| of the taps.
  int reach_x() const;
  int reach_y() const;

  // The same expression whose variables are these, in this order. They must include all it uses.
  Expression with_variables(std::vector<std::string> names) const;

  // The same expression with other names for its variables.
  Expression renamed(std::vector<std::string> names) const {
    Expression out = *this;
    out.variables_ = std::move(names);
    return out;
  }

  bool operator==(const Expression&) const = default;

 private:
  friend class ExpressionParser;
  std::vector<ExpressionNode> nodes_;
  std::vector<std::string> variables_;
  std::vector<Tap> taps_;
};

// A variable that stands for an argument of the node: argument_name(0) for the first.
std::string argument_name(int index);
// Which argument a variable stands for; -1 for other variables.
int argument_index(std::string_view variable);

// What an expression may name. A name may have fields, as in limits.low.
struct ExpressionNames {
  std::vector<std::string> known;  // offered when a name is unknown
  bool others = false;             // any other name is a variable too (an image)
  bool taps = false;               // at(dx, dy) is allowed
};

// The names of an expression of pixels: the value in each channel, the channels of the pixel, its
// place and the image. Others are images, or numbers that were measured.
inline constexpr std::string_view pixel_names[] = {"x",   "r",     "g",      "b",    "col",
                                                   "row", "width", "height", "white"};

// A word of expressions, which names no image and no number: x, white, pi, max.
bool is_expression_word(std::string_view name);

// Where an expression stands: `span` of `text`, with its quotes if it has some.
struct ExpressionPlace {
  std::string_view text;
  Span span;
  std::string_view origin = "pipeline";
};

inline constexpr int largest_tap = 100;

// `expression` is the text without quotes, doubled quotes undoubled; errors show the place.
Expression parse_expression(std::string_view expression, const ExpressionNames& names,
                            const ExpressionPlace& place);
// An expression that stands alone.
Expression parse_expression(std::string_view expression, const ExpressionNames& names);

// Canonical text; parsing it gives an equal expression.
std::string print_expression(const Expression& expression);

// The expression in the words of core/vocabulary.hpp, for a body: `real(2.0) * x`.
// `variables` are the C names of the expression's variables; taps are at(dx, dy).
std::string expression_body(const Expression& expression, std::span<const std::string> variables);

}  // namespace impipe
