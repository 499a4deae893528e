// Small tools for kernel text: templates, lists of names, and bodies on lines of their own.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace impipe::jit {

using Replacements = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// The template with each $NAME replaced by its text.
std::string filled(std::string_view text, Replacements replacements);

// "(a, b)" or "(real a, real b)" -> {"a", "b"}
std::vector<std::string> names_in(std::string_view list);

std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");

// One statement a line, indented by braces: bodies lost their lines in the macro that keeps them.
std::string formatted(std::string_view text);

// Each line of the text behind "// ".
std::string commented(std::string_view text);

}  // namespace impipe::jit
