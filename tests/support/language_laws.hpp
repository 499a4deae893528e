// The laws that hold for any text: an error or a Script, and what is printed reads back the same.
#pragma once

#include <string>
#include <string_view>

namespace impipe::test {

struct LanguageVerdict {
  bool parsed = false;     // the text is a pipeline
  int expressions = 0;     // its quoted texts that are expressions
  std::string broken_law;  // empty when all hold
};

LanguageVerdict judge_pipeline(std::string_view text);

// The same for a text as an expression; true when it is one.
LanguageVerdict judge_expression(std::string_view text);

}  // namespace impipe::test
