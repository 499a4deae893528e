// The operators and functions of a user's expression: how each is written, here and in C.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/expression.hpp"

namespace impipe {

struct OperatorRow {
  ExpressionOp op;
  std::string_view text;
  int precedence;   // 1 binds weakest; all of these group from the left
  bool comparison;  // or logical: gives 0 or 1
};

struct FunctionRow {
  ExpressionOp op;
  std::string_view name;
  int arguments;
  bool folds;  // min(a, b, c) is min(min(a, b), c)
  std::string_view c_name;
  std::string_view usage;
};

inline constexpr int unary_precedence = 7;
inline constexpr int power_precedence = 8;
inline constexpr int primary_precedence = 9;

// Null when it is none.
const OperatorRow* find_operator_row(std::string_view text);
const OperatorRow* find_operator_row(ExpressionOp op);
const FunctionRow* find_function(std::string_view name);
const FunctionRow* find_function(ExpressionOp op);
std::vector<std::string> function_names();

}  // namespace impipe
