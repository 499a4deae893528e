// Values of a Script's items, and its canonical text.
#include "pipeline/script.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text.hpp"

namespace impipe::pipeline {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out.append(c == '\'' ? 2 : 1, c);
  return out + "'";
}

std::string print_matrix(const Matrix& matrix) {
  std::string out = "[";
  for (int row = 0; row < matrix.rows; ++row) {
    if (row > 0) out += ';';
    for (int column = 0; column < matrix.columns; ++column) {
      if (column > 0) out += ' ';
      out += number_text(matrix.elements[static_cast<std::size_t>(row) * matrix.columns + column]);
    }
  }
  out += ']';
  if (matrix.divisor != 1) out += "/" + number_text(matrix.divisor);
  return out;
}

std::string print_range(const Range& range) {
  std::string out = number_text(range.first) + ":";
  if (range.step != 1) out += number_text(range.step) + ":";
  return out + number_text(range.last);
}

std::string print_file(const File& file) {
  const bool plain = file.path.find_first_of(" \t\r\n|,'\"") == std::string::npos;
  return "@" + (plain ? file.path : quoted(file.path));
}

}  // namespace

std::int64_t Range::count() const {
  // The colon operator of MATLAB forgives rounding in the last place, so that 0:0.1:0.3 has four
  // values.
  const double steps = (last - first) / step;
  const double whole = std::floor(steps * (1 + 3 * std::numeric_limits<double>::epsilon()));
  if (!(whole >= 0)) return 0;
  return whole >= 9e15 ? std::numeric_limits<std::int64_t>::max()
                       : static_cast<std::int64_t>(whole) + 1;
}

std::vector<double> Range::values() const {
  std::vector<double> out(count());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double value = first + static_cast<double>(i) * step;
    out[i] = step > 0 ? std::min(value, last) : std::max(value, last);
  }
  return out;
}

std::vector<double> Matrix::values() const {
  std::vector<double> out = elements;
  for (double& value : out) value /= divisor;
  return out;
}

bool operator==(const Matrix& a, const Matrix& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return a.rows == b.rows && a.columns == b.columns && a.divisor == b.divisor &&
         std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(),
                    same);
}

Error error_at(const Script& script, Span span, std::string_view message) {
  return impipe::error_at(script.text, span, message, script.origin);
}

std::string_view kind_of(const Item& item) {
  return std::visit(
      Overloaded{[](const Number& number) { return number.percent ? "a percentage" : "a number"; },
                 [](const Range&) { return "a range"; }, [](const Word&) { return "a word"; },
                 [](const Quoted&) { return "a quoted text"; },
                 [](const Matrix&) { return "a matrix"; }, [](const File&) { return "a file"; },
                 [](const Operand&) { return "an image"; },
                 [](const LetterNumber&) { return "a letter and a number"; },
                 [](const Measured&) { return "a measured number"; }},
      item.value);
}

std::string print(const Item& item) {
  return std::visit(Overloaded{[](const Number& number) {
                                 return number_text(number.value) + (number.percent ? "%" : "");
                               },
                               [](const Range& range) { return print_range(range); },
                               [](const Word& word) {
                                 return word.argument.empty()
                                            ? word.text
                                            : word.text + ":" + print(word.argument.front());
                               },
                               [](const Quoted& text) { return quoted(text.text); },
                               [](const Matrix& matrix) { return print_matrix(matrix); },
                               [](const File& file) { return print_file(file); },
                               [](const Operand& operand) { return ":" + operand.name; },
                               [](const LetterNumber& alias) { return alias.text; },
                               [](const Measured& measured) { return measured.name; }},
                    item.value);
}

std::string print(const Argument& argument) {
  std::string out = argument.key.empty() ? "" : argument.key + "=";
  for (std::size_t i = 0; i < argument.items.size(); ++i) {
    if (i > 0) out += ',';
    out += print(argument.items[i]);
  }
  return out;
}

std::string print(const Stage& stage) {
  std::string out = stage.name;
  for (const Argument& argument : stage.arguments) out += " " + print(argument);
  return out;
}

std::string print(const Script& script) {
  std::string out;
  for (const Stage& stage : script.stages) out += (out.empty() ? "" : " | ") + print(stage);
  return out;
}

}  // namespace impipe::pipeline
