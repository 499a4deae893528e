// Words about operators, from their descriptions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/operator.hpp"

namespace impipe::cli {

// "conv2 [kernel] [size=N] …": how it is written.
std::string usage_of(const Operator& op);
// "odd whole number from 1 to 101", "same, full or valid", "an image, :a": what a parameter takes.
std::string takes_of(const Parameter& parameter);
// The operators by category, categories in the order of their names.
std::vector<std::pair<std::string, std::vector<const Operator*>>> operators_by_category();

// What is stated of white goes for larger values, too.
std::string accuracy_text(const Operator& op);
// "uint8, uint16, single"
std::string classes_text(const Classes& classes);

// The reference manual of the operators, docs/operators.md, made from their descriptions.
std::string operator_reference();

struct FoundOperators {
  std::vector<const Operator*> operators;  // by name
  bool has_all = true;                     // each has all the words
};
// The operators whose names, descriptions, or hints for other names have all the words; where there
// are none, those whose parameters, details or MATLAB functions have them; else those that have
// most of them. Letters may be small or capital, and spelled as in Britain or America.
FoundOperators search_operators(std::span<const std::string> words);

}  // namespace impipe::cli
