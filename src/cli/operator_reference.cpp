// The reference manual of the operators, in Markdown.
#include "cli/operator_text.hpp"

#include <fmt/format.h>

#include <iterator>

namespace impipe::cli {
namespace {

// Text inside a table: a bar would end the cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

void add_operator(std::string& text, const Operator& op) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "### {}\n\n{}.\n\n    {}\n\n", op.name, op.help, usage_of(op));
  fmt::format_to(out, "![{0}](images/operators/{0}.png)\n\n", op.name);
  if (!op.parameters.empty()) {
    text += "| parameter | meaning | takes | letter | default |\n|---|---|---|---|---|\n";
    for (const Parameter& p : op.parameters) {
      fmt::format_to(out, "| `{}` | {} | {} | {} | {} |\n", p.name, cell(p.help), cell(takes_of(p)),
                     p.letter == 0 ? "" : fmt::format("`{}`", p.letter),
                     p.required           ? "required"
                     : p.fallback.empty() ? std::string()
                                          : "`" + std::string(p.fallback) + "`");
    }
    text += "\n";
  }
  // As written: the lines hold formulas, which Markdown would take for emphasis.
  if (!op.details.empty()) fmt::format_to(out, "```text\n{}\n```\n\n", op.details);
  if (op.make == nullptr) {
    fmt::format_to(out, "- classes: {}{}\n", classes_text(op.classes),
                   op.one_channel ? "; one channel, colour goes through rgb2gray first"
                   : op.colour    ? "; colour images"
                                  : "");
  }
  if (!op.accuracy.empty()) fmt::format_to(out, "- accuracy: {}\n", accuracy_text(op));
  const std::string not_finite = text_of(op.not_finite);
  if (!not_finite.empty()) fmt::format_to(out, "- NaN, Inf: {}\n", not_finite);
  if (!op.matlab.empty()) fmt::format_to(out, "- MATLAB: `{}`\n", op.matlab);
  if (!op.example.empty()) fmt::format_to(out, "- example: `{}`\n", op.example);
  text += "\n";
}

}  // namespace

std::string operator_reference() {
  std::string text =
      "# Operators\n\nMade by `scripts/make_reference.sh` from the operators' descriptions; "
      "`impipe ops NAME` says the same.\nThe pictures are each operator's example, before and "
      "after; a result without a white is "
      "shown\nthrough `mat2gray`. What those that measure are called in reports: "
      "[measurements.md](measurements.md).\n\n";
  for (const auto& [category, operators] : operators_by_category()) {
    text += "- " + category + ":";
    for (const Operator* op : operators)
      fmt::format_to(std::back_inserter(text), " [{0}](#{0})", op->name);
    text += "\n";
  }
  for (const auto& [category, operators] : operators_by_category()) {
    text += "\n## " + category + "\n\n";
    for (const Operator* op : operators) add_operator(text, *op);
    text.pop_back();
  }
  return text;
}

}  // namespace impipe::cli
