// The operators and functions of a user's expression: how each is written, here and in C.
#include "core/expression_table.hpp"

namespace impipe {
namespace {

constexpr OperatorRow operators[] = {
    {ExpressionOp::logical_or, "||", 1, true}, {ExpressionOp::logical_and, "&&", 2, true},
    {ExpressionOp::equal, "==", 3, true},      {ExpressionOp::not_equal, "!=", 3, true},
    {ExpressionOp::less, "<", 4, true},        {ExpressionOp::less_equal, "<=", 4, true},
    {ExpressionOp::greater, ">", 4, true},     {ExpressionOp::greater_equal, ">=", 4, true},
    {ExpressionOp::add, "+", 5, false},        {ExpressionOp::subtract, "-", 5, false},
    {ExpressionOp::multiply, "*", 6, false},   {ExpressionOp::divide, "/", 6, false},
};

constexpr FunctionRow function_rows[] = {
    {ExpressionOp::min, "min", 2, true, "min", "min(a, b)"},
    {ExpressionOp::max, "max", 2, true, "max", "max(a, b)"},
    {ExpressionOp::abs, "abs", 1, false, "abs", "abs(a)"},
    {ExpressionOp::sqrt, "sqrt", 1, false, "sqrt", "sqrt(a)"},
    {ExpressionOp::floor, "floor", 1, false, "floor", "floor(a)"},
    {ExpressionOp::ceil, "ceil", 1, false, "ceil", "ceil(a)"},
    {ExpressionOp::round, "round", 1, false, "round_away", "round(a)"},
    {ExpressionOp::exp, "exp", 1, false, "exp", "exp(a)"},
    {ExpressionOp::log, "log", 1, false, "log", "log(a)"},
    {ExpressionOp::power, "pow", 2, false, "pow", "pow(a, b)"},
    {ExpressionOp::sin, "sin", 1, false, "sin", "sin(a)"},
    {ExpressionOp::cos, "cos", 1, false, "cos", "cos(a)"},
    {ExpressionOp::tan, "tan", 1, false, "tan", "tan(a)"},
    {ExpressionOp::atan2, "atan2", 2, false, "atan2", "atan2(y, x)"},
    {ExpressionOp::clamp, "clamp", 3, false, "clamp", "clamp(a, low, high)"},
};

}  // namespace

const OperatorRow* find_operator_row(std::string_view text) {
  for (const OperatorRow& row : operators) {
    if (row.text == text) return &row;
  }
  return nullptr;
}

const OperatorRow* find_operator_row(ExpressionOp op) {
  for (const OperatorRow& row : operators) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

const FunctionRow* find_function(std::string_view name) {
  for (const FunctionRow& row : function_rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

const FunctionRow* find_function(ExpressionOp op) {
  for (const FunctionRow& row : function_rows) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

std::vector<std::string> function_names() {
  std::vector<std::string> out;
  for (const FunctionRow& row : function_rows) out.emplace_back(row.name);
  return out;
}

}  // namespace impipe
