// The whole message of every error in a user's expression, shown in the pipeline around it.
#include <gtest/gtest.h>

#include "core/expression.hpp"
#include "pipeline/parser.hpp"

namespace impipe {
namespace {

// Parses the first argument of the first stage as an operator would.
std::string error_of(const std::string& text, const ExpressionNames& names) {
  const pipeline::Script script = pipeline::parse(text);
  const pipeline::Item& item = script.stages.at(0).arguments.at(0).items.at(0);
  const std::string& expression = std::get<pipeline::Quoted>(item.value).text;
  try {
    parse_expression(expression, names, {script.text, item.span, script.origin});
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ExpressionError, Messages) {
  const struct {
    const char* text;
    const char* message;
  } table[] = {
      {"map ''",
       "pipeline:1:6: the expression is empty\n"
       "  map ''\n"
       "       ^"},
      {"map e='x +' | mean2",
       "pipeline:1:11: the expression ends where a value is expected\n"
       "  map e='x +' | mean2\n"
       "            ^"},
      {"map 'x * * 2'",
       "pipeline:1:10: a value is expected here, not '*'\n"
       "  map 'x * * 2'\n"
       "           ^"},
      {"map '2x'",
       "pipeline:1:7: an operator is missing before 'x'\n"
       "  map '2x'\n"
       "        ^"},
      {"map 'x (y)'",
       "pipeline:1:6: unknown function 'x'\n"
       "  map 'x (y)'\n"
       "       ^"},
      {"map '(x + 1'",
       "pipeline:1:6: this '(' is not closed\n"
       "  map '(x + 1'\n"
       "       ^"},
      {"map 'min(x, 1'",
       "pipeline:1:9: this '(' is not closed\n"
       "  map 'min(x, 1'\n"
       "          ^"},
      {"map 'x + 1)'",
       "pipeline:1:11: this ')' closes nothing\n"
       "  map 'x + 1)'\n"
       "            ^"},
      {"map 'x = 1'",
       "pipeline:1:8: '=' compares nothing; write '=='\n"
       "  map 'x = 1'\n"
       "         ^"},
      {"map 'x, 1'",
       "pipeline:1:7: ',' is not expected here\n"
       "  map 'x, 1'\n"
       "        ^"},
      {"map 'x ? 1'",
       "pipeline:1:8: this '?' has no ':'\n"
       "  map 'x ? 1'\n"
       "         ^"},
      {"map 'whit - x'",
       "pipeline:1:6: unknown name 'whit'; did you mean 'white'?\n"
       "  map 'whit - x'\n"
       "       ^^^^"},
      {"map 'luminance'",
       "pipeline:1:6: unknown name 'luminance'; there is x, y, white\n"
       "  map 'luminance'\n"
       "       ^^^^^^^^^"},
      {"map 'flor(x)'",
       "pipeline:1:6: unknown function 'flor'; did you mean 'floor'?\n"
       "  map 'flor(x)'\n"
       "       ^^^^"},
      {"map 'x + min'",
       "pipeline:1:10: 'min' is a function: min(a, b)\n"
       "  map 'x + min'\n"
       "           ^^^"},
      {"map 'min(x)'",
       "pipeline:1:6: 'min' takes 2 values or more, not 1: min(a, b)\n"
       "  map 'min(x)'\n"
       "       ^^^^^^"},
      {"map 'abs(x, y)'",
       "pipeline:1:6: 'abs' takes 1 value, not 2: abs(a)\n"
       "  map 'abs(x, y)'\n"
       "       ^^^^^^^^^"},
      {"map 'clamp()'",
       "pipeline:1:6: 'clamp' takes 3 values, not 0: clamp(a, low, high)\n"
       "  map 'clamp()'\n"
       "       ^^^^^^^"},
      {"map 'x # 2'",
       "pipeline:1:8: '#' has no meaning in an expression\n"
       "  map 'x # 2'\n"
       "         ^"},
      {"map 'x × 2'",
       "pipeline:1:8: '×' has no meaning in an expression\n"
       "  map 'x × 2'\n"
       "         ^"},
      {"map 'x + 1e999'",
       "pipeline:1:10: '1e999' does not fit a double-precision number\n"
       "  map 'x + 1e999'\n"
       "           ^^^^^"},
      {"map 'x + at(1,0)'",
       "pipeline:1:10: at(dx, dy) is only for the expression of a stencil\n"
       "  map 'x + at(1,0)'\n"
       "           ^^"},
      // A doubled quote moves what follows.
      {"map ''' + q'",
       "pipeline:1:6: ''' has no meaning in an expression\n"
       "  map ''' + q'\n"
       "       ^^"},
  };
  const ExpressionNames names{.known = {"x", "y", "white"}};
  for (const auto& row : table) {
    EXPECT_EQ(error_of(row.text, names), row.message);
  }
}

TEST(ExpressionError, Taps) {
  const ExpressionNames names{.known = {}, .others = false, .taps = true};
  const char* const whole = "at(dx, dy) takes two whole numbers, as in at(-1, 0)";
  const struct {
    const char* expression;
    int column;  // in the expression, from 1
    int carets;
    std::string message;
  } table[] = {
      {"at", 1, 2, "'at' is written at(dx, dy)"},
      {"at()", 4, 1, whole},
      {"at(1)", 5, 1, whole},
      {"at(1,2,3)", 7, 1, whole},
      {"at(0.5,1)", 4, 3, whole},
      {"at(1,1e999)", 6, 5, "at(dx, dy) reaches at most 100 pixels"},
      {"at(-101,0)", 5, 3, "at(dx, dy) reaches at most 100 pixels"},
      {"at(1,", 6, 1, whole},
      {"at(-", 5, 1, whole},
      {"at(1+1,0)", 5, 1, whole},
      {"att(1,0)", 1, 3, "unknown function 'att'; did you mean 'at'?"},
      {"x", 1, 1, "unknown name 'x'"},
  };
  for (const auto& row : table) {
    const std::string text = "stencil '" + std::string(row.expression) + "'";
    const int column = row.column + 9;
    EXPECT_EQ(error_of(text, names), "pipeline:1:" + std::to_string(column) + ": " + row.message +
                                         "\n  " + text + "\n  " + std::string(column - 1, ' ') +
                                         std::string(row.carets, '^'));
  }
}

TEST(ExpressionError, ShowsThePlaceBehindDoubledQuotes) {
  const ExpressionNames names{.known = {"x"}};
  EXPECT_EQ(error_of("map \"x + \"\"\"", names),
            "pipeline:1:10: '\"' has no meaning in an expression\n"
            "  map \"x + \"\"\"\n"
            "           ^^");
}

TEST(ExpressionError, LimitsOfSizeAndDepth) {
  const ExpressionNames names{.known = {"x"}};
  const auto message_of = [&](const std::string& text) {
    try {
      parse_expression(text, names);
      return std::string("no error");
    } catch (const Error& error) {
      const std::string whole = error.what();
      return whole.substr(0, whole.find('\n'));
    }
  };
  const auto repeat = [](int n, std::string_view text) {
    std::string out;
    while (n-- > 0) out += text;
    return out;
  };
  EXPECT_EQ(message_of(repeat(100, "(") + "x" + repeat(100, ")")), "no error");
  EXPECT_EQ(message_of(repeat(101, "(") + "x" + repeat(101, ")")),
            "expression:1:101: the expression is nested too deeply");
  EXPECT_EQ(message_of(repeat(101, "abs(") + "x" + repeat(101, ")")),
            "expression:1:404: the expression is nested too deeply");
  EXPECT_EQ(message_of("x" + repeat(499, "+x")), "no error");
  EXPECT_EQ(message_of("x" + repeat(500, "+x")), "expression:1:1: the expression is too long");
  EXPECT_EQ(message_of(repeat(1000000, "-") + "x"), "expression:1:1: the expression is too long");
  EXPECT_EQ(message_of(repeat(1000000, "+") + "x"), "no error");
}

}  // namespace
}  // namespace impipe
