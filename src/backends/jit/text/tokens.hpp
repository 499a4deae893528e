// Kernel text as tokens: without comments, and with its macros expanded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace impipe::jit {

struct Token {
  std::string text;  // a pragma is one, with its line
  int line = 1;      // of the text
};

// Whether it begins a name rather than a number or an operator.
bool is_name(const Token& token);

// Throws std::logic_error with the line where a directive or a macro's call is none that kernel
// texts have. Names that the text does not define are undefined to `#if`.
std::vector<Token> preprocessed(std::string_view text);

}  // namespace impipe::jit
