// Writes an expression: as canonical text for people and keys, and as C for bodies.
#include <string>
#include <vector>

#include "core/expression.hpp"
#include "core/expression_table.hpp"
#include "core/text.hpp"

namespace impipe {
namespace {

struct Written {
  std::string text;
  int precedence = primary_precedence;  // 0: a ternary
};

std::string at_least(const Written& operand, int precedence) {
  return operand.precedence >= precedence ? operand.text : "(" + operand.text + ")";
}

std::string tap_text(const Tap& tap) {
  return "at(" + std::to_string(tap.dx) + ", " + std::to_string(tap.dy) + ")";
}

// A C literal that is no integer: 2 would divide as one.
std::string real_literal(double value) {
  std::string text = number_text(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return "real(" + text + ")";
}

// C has 0 and 1 of type int as truth; a body has them as reals. This is the condition in C of a
// value that was written as a real.
struct Body {
  std::string value;
  std::string condition;  // empty: value != real(0.0)
};

std::string condition_of(const Body& body) {
  return body.condition.empty() ? "(" + body.value + " != real(0.0))" : body.condition;
}

Body truth(const std::string& condition) {
  return {"(" + condition + " ? real(1.0) : real(0.0))", condition};
}

}  // namespace

std::string print_expression(const Expression& expression) {
  const auto& nodes = expression.nodes();
  std::vector<Written> written(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const ExpressionNode& node = nodes[i];
    const auto operand = [&](int k) -> const Written& { return written[node.operands[k]]; };
    Written& out = written[i];
    if (node.op == ExpressionOp::number) {
      out.text = number_text(node.number);
    } else if (node.op == ExpressionOp::variable) {
      out.text = expression.variables()[node.index];
    } else if (node.op == ExpressionOp::tap) {
      out.text = tap_text(expression.taps()[node.index]);
    } else if (node.op == ExpressionOp::negate || node.op == ExpressionOp::logical_not) {
      out = {(node.op == ExpressionOp::negate ? "-" : "!") + at_least(operand(0), unary_precedence),
             unary_precedence};
    } else if (node.op == ExpressionOp::power) {
      out = {
          at_least(operand(0), primary_precedence) + " ^ " + at_least(operand(1), unary_precedence),
          power_precedence};
    } else if (node.op == ExpressionOp::select) {
      out = {at_least(operand(0), 1) + " ? " + operand(1).text + " : " + operand(2).text, 0};
    } else if (const OperatorRow* row = find_operator_row(node.op)) {
      out = {at_least(operand(0), row->precedence) + " " + std::string(row->text) + " " +
                 at_least(operand(1), row->precedence + 1),
             row->precedence};
    } else {
      const FunctionRow* function = find_function(node.op);
      // min(min(a, b), c) is written min(a, b, c), so that no text nests deeper than what was read.
      if (function->folds && nodes[node.operands[0]].op == node.op) {
        out.text = operand(0).text;
        out.text.pop_back();
      } else {
        out.text = std::string(function->name) + "(" + operand(0).text;
      }
      for (int k = 1; k < function->arguments; ++k) out.text += ", " + operand(k).text;
      out.text += ")";
    }
  }
  return written.back().text;
}

std::string expression_body(const Expression& expression, std::span<const std::string> variables) {
  const auto& nodes = expression.nodes();
  std::vector<Body> bodies(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const ExpressionNode& node = nodes[i];
    const auto operand = [&](int k) -> const Body& { return bodies[node.operands[k]]; };
    Body& out = bodies[i];
    if (node.op == ExpressionOp::number) {
      out.value = real_literal(node.number);
    } else if (node.op == ExpressionOp::variable) {
      out.value = variables[node.index];
    } else if (node.op == ExpressionOp::tap) {
      out.value = tap_text(expression.taps()[node.index]);
    } else if (node.op == ExpressionOp::negate) {
      out.value = "(-" + operand(0).value + ")";
    } else if (node.op == ExpressionOp::logical_not) {
      out = truth("(!" + condition_of(operand(0)) + ")");
    } else if (node.op == ExpressionOp::logical_and || node.op == ExpressionOp::logical_or) {
      const std::string sign = node.op == ExpressionOp::logical_and ? " && " : " || ";
      out = truth("(" + condition_of(operand(0)) + sign + condition_of(operand(1)) + ")");
    } else if (node.op == ExpressionOp::select) {
      out.value = "(" + condition_of(operand(0)) + " ? " + operand(1).value + " : " +
                  operand(2).value + ")";
    } else if (const OperatorRow* row = find_operator_row(node.op)) {
      const std::string text =
          "(" + operand(0).value + " " + std::string(row->text) + " " + operand(1).value + ")";
      out = row->comparison ? truth(text) : Body{text, {}};
    } else {
      const FunctionRow* function = find_function(node.op);
      out.value = std::string(function->c_name) + "(" + operand(0).value;
      for (int k = 1; k < function->arguments; ++k) out.value += ", " + operand(k).value;
      out.value += ")";
    }
  }
  return bodies.back().value;
}

}  // namespace impipe
