// The parsed text of a pipeline: stages, arguments and items, each with its place in the text.
//
// Equality is structural: two scripts are equal when they say the same, wherever it stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.hpp"

namespace impipe::pipeline {

struct Item;

// `0.5`, `-3`, `10%`. The value is as written: 10 for `10%`.
struct Number {
  double value = 0;
  bool percent = false;
  double fraction() const { return percent ? value / 100 : value; }
  bool operator==(const Number&) const = default;
};

// `first:last` or `first:step:last`, never empty and at most `largest_range` values.
struct Range {
  double first = 0;
  double step = 1;
  double last = 0;
  std::int64_t count() const;
  std::vector<double> values() const;  // first, first + step, … as far as last
  bool operator==(const Range&) const = default;
};

// `prewitt`, `out/{stem}.png`, and `fspecial:gaussian`, whose argument is the word `gaussian`.
struct Word {
  std::string text;
  std::vector<Item> argument;  // none, or the one item after ':'
  bool operator==(const Word&) const = default;
};

// `'x + 1'`; the text is without the quotes, and each doubled quote in it is one.
struct Quoted {
  std::string text;
  bool operator==(const Quoted&) const = default;
};

// `[1 2; 3 4]/10`. Row major; the elements are as written, not yet divided.
struct Matrix {
  int rows = 0;
  int columns = 0;
  std::vector<double> elements;
  double divisor = 1;
  std::vector<double> values() const;  // elements / divisor
  // NaN says the same as NaN.
  friend bool operator==(const Matrix& a, const Matrix& b);
};

// `@kernel.txt`, `@'my kernel.txt'`
struct File {
  std::string path;
  bool operator==(const File&) const = default;
};

// `:a`, and `$a`
struct Operand {
  std::string name;
  bool operator==(const Operand&) const = default;
};

// `k7`, `r-1`, `t0.1`: an alias with its value if the operator declares the letter, else a word.
struct LetterNumber {
  char letter = 0;
  double value = 0;
  std::string text;  // as written, because `as a01` is a name
  bool operator==(const LetterNumber&) const = default;
};

// A name of measured numbers, `t` or `p.BoundingBox`, and the numbers once they are measured. No
// text has one: the binder makes it of a word.
struct Measured {
  std::string name;
  std::vector<double> numbers;  // empty: not measured yet
  int columns = 1;              // above 1: they are a matrix of that many, row by row
  std::size_t count = 0;        // how many there will be, where that is known
  bool operator==(const Measured&) const = default;
};

struct Item {
  Span span;
  std::variant<Number, Range, Word, Quoted, Matrix, File, Operand, LetterNumber, Measured> value;
  friend bool operator==(const Item& a, const Item& b) { return a.value == b.value; }
};

// `key=item,item` or `item,item`
struct Argument {
  Span span;
  std::string key;  // empty when there is none
  Span key_span;
  std::vector<Item> items;  // at least one
  Span value_span;
  friend bool operator==(const Argument& a, const Argument& b) {
    return a.key == b.key && a.items == b.items;
  }
};

struct Stage {
  Span span;  // from the name to the end of the last argument
  std::string name;
  Span name_span;
  std::vector<Argument> arguments;
  friend bool operator==(const Stage& a, const Stage& b) {
    return a.name == b.name && a.arguments == b.arguments;
  }
};

// The text comes along, so that later hops can show the place of what they complain about.
struct Script {
  std::string text;
  std::string origin;
  std::vector<Stage> stages;  // at least one
  friend bool operator==(const Script& a, const Script& b) { return a.stages == b.stages; }
};

inline constexpr std::int64_t largest_range = 100'000;

using impipe::error_at;
// The error that shows `span` of the script's text.
Error error_at(const Script& script, Span span, std::string_view message);

// What kind of item it is, for messages: "a number", "a quoted text", …
std::string_view kind_of(const Item& item);

// Canonical text on one line; parsing it gives an equal value.
std::string print(const Script& script);
std::string print(const Stage& stage);
std::string print(const Argument& argument);
std::string print(const Item& item);

}  // namespace impipe::pipeline
