// The laws that hold for any text: an error or a Script, and what is printed reads back the same.
#include "support/language_laws.hpp"

#include <algorithm>
#include <cmath>

#include "core/expression.hpp"
#include "core/row_evaluator.hpp"
#include "pipeline/parser.hpp"

namespace impipe::test {
namespace {

using pipeline::Item;
using pipeline::Script;

// An error shows its origin, its place and a line of carets.
std::string broken_error(const Error& error) {
  const std::string_view whole = error.what();
  const std::size_t carets = whole.rfind("\n  ");
  if (carets == whole.npos || whole.find('^', carets) == whole.npos) {
    return "an error without a place: " + std::string(whole);
  }
  const std::string_view shown = whole.substr(0, carets);
  if (std::any_of(shown.begin(), shown.end(),
                  [](unsigned char c) { return c < 0x20 && c != '\n'; })) {
    return "an error with control characters";
  }
  return {};
}

std::string broken_span(const Script& script, Span span) {
  const bool inside =
      span.begin >= 0 && span.begin < span.end && span.end <= static_cast<int>(script.text.size());
  return inside ? "" : "a span outside the text";
}

LanguageVerdict judge_script(const Script& script) {
  LanguageVerdict verdict{.parsed = true};
  const auto broken = [&](std::string law) {
    if (verdict.broken_law.empty()) verdict.broken_law = std::move(law);
  };
  const std::string printed = print(script);
  if (printed.find('\n') != printed.npos) broken("printed on several lines");
  try {
    const Script again = pipeline::parse(printed);
    if (!(again == script)) broken("prints as another pipeline: " + printed);
    if (print(again) != printed) broken("prints differently: " + printed);
  } catch (const Error& error) {
    broken("prints as no pipeline: " + std::string(error.what()));
  }
  for (const pipeline::Stage& stage : script.stages) {
    broken(broken_span(script, stage.span));
    for (const pipeline::Argument& argument : stage.arguments) {
      broken(broken_span(script, argument.span));
      broken(broken_span(script, argument.value_span));
      for (const Item& item : argument.items) {
        broken(broken_span(script, item.span));
        const auto* quoted = std::get_if<pipeline::Quoted>(&item.value);
        if (quoted == nullptr) continue;
        const LanguageVerdict inner = judge_expression(quoted->text);
        verdict.expressions += inner.parsed;
        broken(inner.broken_law);
      }
    }
  }
  return verdict;
}

}  // namespace

LanguageVerdict judge_pipeline(std::string_view text) {
  LanguageVerdict verdict;
  for (const auto kind : {pipeline::TextKind::file, pipeline::TextKind::command_line}) {
    LanguageVerdict now;
    try {
      now = judge_script(pipeline::parse(text, "pipeline", kind));
    } catch (const Error& error) {
      now.broken_law = broken_error(error);
    }
    if (!verdict.broken_law.empty()) now.broken_law = verdict.broken_law;
    now.parsed = now.parsed || verdict.parsed;
    verdict = now;
  }
  return verdict;
}

LanguageVerdict judge_expression(std::string_view text) {
  LanguageVerdict verdict;
  const ExpressionNames names{.known = {"x"}, .others = true, .taps = true};
  try {
    const Expression expression = parse_expression(text, names);
    verdict.parsed = true;
    const std::string printed = print_expression(expression);
    if (!(parse_expression(printed, names) == expression)) {
      verdict.broken_law = "prints as another expression: " + printed;
    }
    // The scratch of a first run must not show in a second.
    const std::size_t count = expression.variables().size() + expression.taps().size();
    const double value = 0.75;
    const std::vector<const double*> inputs(count, &value);
    double once = 0, twice = 0;
    RowEvaluator<double> evaluator(expression);
    evaluator.run(&once, inputs, 1);
    evaluator.run(&twice, inputs, 1);
    if (!(once == twice || (std::isnan(once) && std::isnan(twice)))) {
      verdict.broken_law = "gives two values";
    }
    if (expression_body(expression, expression.variables()).empty()) {
      verdict.broken_law = "an empty body";
    }
  } catch (const Error& error) {
    verdict.broken_law = verdict.parsed ? "prints as no expression: " + std::string(error.what())
                                        : broken_error(error);
  }
  return verdict;
}

}  // namespace impipe::test
