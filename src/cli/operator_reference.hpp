// The reference manual of the operators, in Markdown.
#pragma once

#include <string>

namespace impipe::cli {

// docs/operators.md, made from the operators' descriptions.
std::string operator_reference();

}  // namespace impipe::cli
