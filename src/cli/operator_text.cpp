// Says how operators are written and what their parameters take.
#include "cli/operator_text.hpp"

#include <map>

#include "core/text.hpp"

namespace impipe::cli {
namespace {

std::string range_of(const Numbers& numbers) {
  const std::string special =
      std::string(numbers.or_inf ? ", inf" : "") + (numbers.or_nan ? ", NaN" : "");
  const bool below = numbers.low == -unlimited, above = numbers.high == unlimited;
  if (below && above) return special;
  if (above) return " from " + number_text(numbers.low) + special;
  if (below) return " up to " + number_text(numbers.high) + special;
  return " from " + number_text(numbers.low) + " to " + number_text(numbers.high) + special;
}

std::string text_of(const Numbers& numbers) {
  std::string kind = numbers.odd ? "odd number" : numbers.integer ? "whole number" : "number";
  if (numbers.max_count == 1) return kind + range_of(numbers);
  std::string count = std::to_string(numbers.min_count);
  if (numbers.min_count != numbers.max_count) {
    count += " to " + std::to_string(numbers.max_count);
  }
  return count + " " + kind + "s" + range_of(numbers);
}

}  // namespace

std::string takes_of(const Parameter& parameter) {
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", or ") + text; };
  if (parameter.numbers.max_count > 0) add(text_of(parameter.numbers));
  if (!parameter.words.empty()) {
    std::string words;
    for (const std::string_view word : parameter.words) {
      words += (words.empty() ? "" : ", ") + std::string(word);
    }
    add(words);
  }
  switch (parameter.takes) {
    case Takes::nothing: break;
    case Takes::kernel: add("a matrix, a named kernel (fspecial:gaussian,5,1.2), @file"); break;
    case Takes::element: add("a 0/1 matrix, a shape (disk,3), @file"); break;
    case Takes::operand: add("an image, :a"); break;
    case Takes::operands: add("images, :a :b"); break;
    case Takes::file: add("@file"); break;
    case Takes::text: add("a text"); break;
    case Takes::expression: add("a quoted expression"); break;
  }
  return out;
}

std::string usage_of(const Operator& op) {
  std::string out(op.name);
  for (const Parameter& parameter : op.parameters) {
    const std::string name(parameter.name);
    out += parameter.required ? " " + name : " [" + name + "]";
  }
  return out;
}

std::vector<std::pair<std::string, std::vector<const Operator*>>> operators_by_category() {
  std::map<std::string, std::vector<const Operator*>> sorted;
  for (const Operator& op : catalogue()) sorted[std::string(op.category)].push_back(&op);
  return {sorted.begin(), sorted.end()};
}

std::string accuracy_text(const Operator& op) {
  std::string out(op.accuracy);
  if (out.find("of white") != std::string::npos) {
    out += " (of the largest |x| instead where that is more)";
  }
  return out;
}

std::string classes_text(const Classes& classes) {
  std::string out;
  for (const PixelClass c :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    if (classes.has(c)) out += (out.empty() ? "" : ", ") + std::string(name_of(c));
  }
  return out;
}

}  // namespace impipe::cli
