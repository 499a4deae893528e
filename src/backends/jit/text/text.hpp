// Small tools for kernel text: templates, lists of names, and bodies on lines of their own.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/body_tree.hpp"

namespace impipe::jit {

struct Part;

using Replacements = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// The template with each $NAME replaced by its text, in which names are replaced likewise. A line
// that is just $NAME goes where the text is empty, and has no indentation of its own where the text
// brings whole lines. Lines between `#if $NAME` and its `#else` or `#endif` stay where the text is
// 1, and go where it is 0. Throws std::logic_error for a name that is not among them.
std::string filled(std::string_view text, Replacements replacements);
// A part of a kernel file, with all parameters that it declares and no others: throws
// std::logic_error elsewise. A part within it that has no text among them is filled with the same.
std::string filled(const Part& part, Replacements parameters = {});

// A text, or the function that makes it.
class Word {
 public:
  template <std::convertible_to<std::string_view> Text>
  Word(const Text& text)  // NOLINT(google-explicit-constructor): lists of words
      : make_([text = std::string(std::string_view(text))] { return text; }) {}
  template <std::invocable Make>
  Word(Make make) : make_(std::move(make)) {}  // NOLINT(google-explicit-constructor)
  std::string text() const { return make_(); }

 private:
  std::function<std::string()> make_;
};

// What many templates share. A name's text is made when a template has the name, so that a kernel
// has just the parameters and buffers that it reads.
class Substitutions {
 public:
  using Map = std::map<std::string_view, Word>;
  explicit Substitutions(Map words) : words_(std::move(words)) {}
  // `own`: of this template, and before the others.
  std::string filled(std::string_view text, Replacements own = {}) const;
  std::string filled(const Part& part, Replacements own = {}) const;

 private:
  struct Values;
  std::string value(std::string_view name, const Values& values) const;
  bool holds(std::string_view name, const Values& values) const;
  std::string filled_line(std::string_view line, const Values& values) const;
  std::string filled_text(std::string_view text, const Values& values) const;

  Map words_;
};

// A whole number as kernels have it.
inline std::string number(std::int64_t i) { return std::to_string(i); }

std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");

// One statement a line, indented by braces: bodies lost their lines in the macro that keeps them.
std::string formatted(std::string_view text);

// The text with each line indented by its braces, and long lines of several statements in lines of
// their own.
std::string indented(std::string_view text);

// Characters of the comment that the text begins with.
std::size_t comment_length(std::string_view text);

// Each line of the text behind "// ".
std::string commented(std::string_view text);

}  // namespace impipe::jit
