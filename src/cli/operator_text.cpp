// Says how operators are written and what their parameters take.
#include "cli/operator_text.hpp"

#include <map>

#include "core/text.hpp"

namespace impipe::cli {
namespace {

std::string range_of(const Parameter& parameter) {
  const std::string special =
      std::string(parameter.takes_inf ? ", inf" : "") + (parameter.takes_nan ? ", NaN" : "");
  const bool below = parameter.low == -unlimited, above = parameter.high == unlimited;
  if (below && above) return special;
  if (above) return " from " + number_text(parameter.low) + special;
  if (below) return " up to " + number_text(parameter.high) + special;
  return " from " + number_text(parameter.low) + " to " + number_text(parameter.high) + special;
}

std::string numbers_of(const Parameter& parameter) {
  std::string kind = parameter.odd ? "odd number" : parameter.integer ? "whole number" : "number";
  if (parameter.max_numbers == 1) return kind + range_of(parameter);
  std::string count = std::to_string(parameter.min_numbers);
  if (parameter.min_numbers != parameter.max_numbers) {
    count += " to " + std::to_string(parameter.max_numbers);
  }
  return count + " " + kind + "s" + range_of(parameter);
}

}  // namespace

std::string takes_of(const Parameter& parameter) {
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", or ") + text; };
  if (parameter.max_numbers > 0) add(numbers_of(parameter));
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
