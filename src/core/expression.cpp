// Parses a user's expression into its tree, operands before operators.
#include "core/expression.hpp"

#include <algorithm>
#include <numbers>
#include <utility>

#include "core/expression_table.hpp"
#include "core/text.hpp"

namespace impipe {
namespace {

// Bounds for what a kernel can hold and a compiler bears; parentheses alone can nest the parser.
constexpr std::size_t max_nodes = 1000;
constexpr int deepest_nesting = 100;

struct Token {
  std::string_view text;  // empty at the end
  int begin = 0;
  bool number = false;
  bool name = false;
  int end() const { return begin + static_cast<int>(text.size()); }
};

// MATLAB's spelling of an operator in C's.
std::string_view c_spelling(std::string_view token) {
  constexpr std::pair<std::string_view, std::string_view> table[] = {
      {"~", "!"}, {"~=", "!="}, {"&", "&&"}, {"|", "||"}, {".*", "*"}, {"./", "/"}, {".^", "^"},
  };
  for (const auto& [matlab, c] : table) {
    if (token == matlab) return c;
  }
  return token;
}

}  // namespace

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const ExpressionNames& names,
                   const ExpressionPlace& place)
      : text_(text), names_(names), place_(place) {}

  Expression expression() {
    advance();
    if (token_.text.empty()) fail({0, size()}, "the expression is empty");
    ternary();
    if (token_.text == ")") fail(here(), "this ')' closes nothing");
    if (!token_.text.empty()) fail_unexpected();
    return std::move(out_);
  }

 private:
  int ternary();
  int binary(int weakest);
  int unary();
  int primary();
  int call(const Token& name);
  int tap(const Token& name);
  int offset();
  int parenthesised(const Token& open);
  int variable(const Token& name);
  int constant(const Token& number);

  int add(ExpressionOp op, std::array<int, 3> operands, double number = 0, int index = 0);
  void advance();
  bool accept(std::string_view text);
  int size() const { return static_cast<int>(text_.size()); }
  Span here() const { return {token_.begin, std::max(token_.end(), token_.begin + 1)}; }
  static Span span_of(const Token& token) { return {token.begin, token.end()}; }
  [[noreturn]] void fail(Span span, std::string_view message) const;
  [[noreturn]] void fail_unexpected() const;
  void fail_at_end(std::string_view message) const {
    if (token_.text.empty()) fail({size(), size()}, message);
  }

  std::string_view text_;
  const ExpressionNames& names_;
  const ExpressionPlace& place_;
  Token token_;
  int after_ = 0;  // where the next token is looked for
  int nesting_ = 0;
  Expression out_;
};

// Shows `span` of the expression in the text around it, where a quote in it stands twice.
void ExpressionParser::fail(Span span, std::string_view message) const {
  const auto outer = static_cast<std::size_t>(place_.span.begin);
  const char first = outer < place_.text.size() ? place_.text[outer] : '\0';
  const bool quoted = first == '\'' || first == '"';
  const auto place_of = [&](int offset) {
    const std::string_view before = text_.substr(0, offset);
    const auto doubled = quoted ? std::count(before.begin(), before.end(), first) : 0;
    return place_.span.begin + (quoted ? 1 : 0) + offset + static_cast<int>(doubled);
  };
  throw error_at(place_.text, {place_of(span.begin), place_of(span.end)}, message, place_.origin);
}

void ExpressionParser::fail_unexpected() const {
  const std::string shown = "'" + std::string(token_.text) + "'";
  if (token_.text == "=") fail(here(), "'=' compares nothing; write '=='");
  if (token_.number || token_.name || token_.text == "(") {
    fail(here(), "an operator is missing before " + shown);
  }
  fail(here(), shown + " is not expected here");
}

void ExpressionParser::advance() {
  int at = after_;
  while (at < size() && std::string_view(" \t\r\n").find(text_[at]) != std::string_view::npos) ++at;
  const std::string_view rest = text_.substr(at);
  std::size_t length = 0;
  token_ = {};
  token_.begin = at;
  if ((length = number_length(rest)) > 0) {
    token_.number = true;
  } else if ((length = name_length(rest)) > 0) {
    token_.name = true;
    // Fields: a full stop with a name or a whole number right behind it.
    const auto in_field = [](char c) {
      return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_';
    };
    while (length + 1 < rest.size() && rest[length] == '.' && in_field(rest[length + 1])) {
      ++length;
      while (length < rest.size() && in_field(rest[length])) ++length;
    }
  } else if (!rest.empty()) {
    constexpr std::string_view pairs[] = {
        "<=", ">=", "==", "!=", "~=", "&&", "||", ".*", "./", ".^"};
    constexpr std::string_view singles = "+-*/^<>!~&|?:(),=";
    for (const std::string_view pair : pairs) {
      if (rest.starts_with(pair)) length = 2;
    }
    if (length == 0 && singles.find(rest[0]) != singles.npos) length = 1;
    if (length == 0) {
      length = 1;  // with the rest of its UTF-8 sequence
      while (length < rest.size() && (rest[length] & 0xC0) == 0x80) ++length;
      const bool control = static_cast<unsigned char>(rest[0]) < 0x20 || rest[0] == 0x7F;
      fail({at, at + static_cast<int>(length)},
           (control ? "a control character" : "'" + std::string(rest.substr(0, length)) + "'") +
               " has no meaning in an expression");
    }
  }
  token_.text = rest.substr(0, length);
  after_ = at + static_cast<int>(length);
}

bool ExpressionParser::accept(std::string_view text) {
  if (token_.text != text) return false;
  advance();
  return true;
}

int ExpressionParser::add(ExpressionOp op, std::array<int, 3> operands, double number, int index) {
  if (out_.nodes_.size() == max_nodes) fail({0, size()}, "the expression is too long");
  out_.nodes_.push_back({op, number, index, operands});
  return static_cast<int>(out_.nodes_.size()) - 1;
}

int ExpressionParser::ternary() {
  const int condition = binary(1);
  const Token question = token_;
  if (!accept("?")) return condition;
  const int first = ternary();
  if (token_.text != ":") fail(span_of(question), "this '?' has no ':'");
  advance();
  const int second = ternary();
  return add(ExpressionOp::select, {condition, first, second});
}

int ExpressionParser::binary(int weakest) {
  int left = unary();
  for (;;) {
    const OperatorRow* row = find_operator_row(c_spelling(token_.text));
    if (row == nullptr || row->precedence < weakest) return left;
    advance();
    const int right = binary(row->precedence + 1);
    left = add(row->op, {left, right, -1});
  }
}

int ExpressionParser::unary() {
  std::string signs;  // in a loop, because nothing else bounds their number
  for (;;) {
    const std::string_view sign = c_spelling(token_.text);
    if (sign != "-" && sign != "+" && sign != "!") break;
    signs += sign;
    advance();
  }
  int operand = primary();
  if (c_spelling(token_.text) == "^") {
    advance();
    const int exponent = unary();
    operand = add(ExpressionOp::power, {operand, exponent, -1});
  }
  for (; !signs.empty(); signs.pop_back()) {
    if (signs.back() == '+') continue;
    operand = add(signs.back() == '-' ? ExpressionOp::negate : ExpressionOp::logical_not,
                  {operand, -1, -1});
  }
  return operand;
}

int ExpressionParser::primary() {
  fail_at_end("the expression ends where a value is expected");
  const Token token = token_;
  if (token.number) return constant(token);
  if (token.name) {
    advance();
    if (token_.text == "(") return token.text == "at" ? tap(token) : call(token);
    return variable(token);
  }
  if (accept("(")) return parenthesised(token);
  if (token.text == "=") fail_unexpected();
  fail(here(), "a value is expected here, not '" + std::string(token.text) + "'");
}

int ExpressionParser::parenthesised(const Token& open) {
  if (++nesting_ > deepest_nesting) fail(span_of(open), "the expression is nested too deeply");
  const int inner = ternary();
  --nesting_;
  if (token_.text.empty()) fail(span_of(open), "this '(' is not closed");
  if (!accept(")")) fail_unexpected();
  return inner;
}

int ExpressionParser::constant(const Token& number) {
  const auto value = number_value(number.text);
  if (!value) {
    fail(here(), "'" + std::string(number.text) + "' does not fit a double-precision number");
  }
  advance();
  return add(ExpressionOp::number, {-1, -1, -1}, *value);
}

int ExpressionParser::variable(const Token& name) {
  const std::string text(name.text);
  if (const FunctionRow* function = find_function(text)) {
    fail(span_of(name), "'" + text + "' is a function: " + std::string(function->usage));
  }
  if (text == "at") fail(span_of(name), "'at' is written at(dx, dy)");
  if (text == "pi") return add(ExpressionOp::number, {-1, -1, -1}, std::numbers::pi);
  if (!names_.others &&
      std::find(names_.known.begin(), names_.known.end(), text) == names_.known.end()) {
    std::string help = did_you_mean(text, names_.known);
    if (help.empty() && !names_.known.empty()) {
      for (const std::string& known : names_.known) help += (help.empty() ? "" : ", ") + known;
      help = "; there is " + help;
    }
    fail(span_of(name), "unknown name '" + text + "'" + help);
  }
  auto& used = out_.variables_;
  const auto found = std::find(used.begin(), used.end(), text);
  const int index = static_cast<int>(found - used.begin());
  if (found == used.end()) used.push_back(text);
  return add(ExpressionOp::variable, {-1, -1, -1}, 0, index);
}

int ExpressionParser::call(const Token& name) {
  const std::string text(name.text);
  const FunctionRow* function = find_function(text);
  if (function == nullptr) {
    std::vector<std::string> candidates = function_names();
    if (names_.taps) candidates.emplace_back("at");
    fail(span_of(name), "unknown function '" + text + "'" + did_you_mean(text, candidates));
  }
  const Token open = token_;
  advance();
  if (++nesting_ > deepest_nesting) fail(span_of(open), "the expression is nested too deeply");
  std::array<int, 3> operands{-1, -1, -1};
  int count = 0;
  if (token_.text != ")") {
    do {
      if (count == 2 && function->folds) {
        operands = {add(function->op, operands), -1, -1};
        count = 1;
      }
      const int argument = ternary();
      if (count < function->arguments) operands[count] = argument;
      ++count;
    } while (accept(","));
  }
  --nesting_;
  if (token_.text.empty()) fail(span_of(open), "this '(' is not closed");
  if (token_.text != ")") fail_unexpected();
  if (count != function->arguments) {
    fail({name.begin, token_.end()}, "'" + text + "' takes " + std::to_string(function->arguments) +
                                         (function->arguments == 1 ? " value" : " values") +
                                         (function->folds ? " or more" : "") + ", not " +
                                         std::to_string(count) + ": " +
                                         std::string(function->usage));
  }
  advance();
  return add(function->op, operands);
}

// A whole number with an optional sign.
int ExpressionParser::offset() {
  constexpr std::string_view message = "at(dx, dy) takes two whole numbers, as in at(-1, 0)";
  fail_at_end(message);
  const bool minus = token_.text == "-";
  if (minus || token_.text == "+") advance();
  fail_at_end(message);
  const double value = token_.number ? number_value(token_.text).value_or(1e9) : 0.5;
  if (value != static_cast<int>(std::min(value, 1e9))) fail(here(), message);
  if (value > largest_tap) {
    fail(here(), "at(dx, dy) reaches at most " + std::to_string(largest_tap) + " pixels");
  }
  advance();
  return minus ? -static_cast<int>(value) : static_cast<int>(value);
}

int ExpressionParser::tap(const Token& name) {
  if (!names_.taps) fail(span_of(name), "at(dx, dy) is only for the expression of a stencil");
  advance();
  const int dx = offset();
  if (!accept(",")) fail(here(), "at(dx, dy) takes two whole numbers, as in at(-1, 0)");
  const int dy = offset();
  if (!accept(")")) fail(here(), "at(dx, dy) takes two whole numbers, as in at(-1, 0)");
  const Tap tap{dx, dy};
  const auto found = std::find(out_.taps_.begin(), out_.taps_.end(), tap);
  const int index = static_cast<int>(found - out_.taps_.begin());
  if (found == out_.taps_.end()) out_.taps_.push_back(tap);
  return add(ExpressionOp::tap, {-1, -1, -1}, 0, index);
}

bool is_expression_word(std::string_view name) {
  const bool pixel =
      std::find(std::begin(pixel_names), std::end(pixel_names), name) != std::end(pixel_names);
  return pixel || name == "pi" || name == "acc" || name == "at" || find_function(name) != nullptr;
}

std::string argument_name(int index) { return "argument." + std::to_string(index); }

int argument_index(std::string_view variable) {
  constexpr std::string_view prefix = "argument.";
  if (!variable.starts_with(prefix)) return -1;
  return static_cast<int>(number_value(variable.substr(prefix.size())).value_or(-1));
}

bool Expression::uses(std::string_view variable) const {
  return std::find(variables_.begin(), variables_.end(), variable) != variables_.end();
}

int Expression::reach_x() const {
  int reach = 0;
  for (const Tap& tap : taps_) reach = std::max(reach, std::abs(tap.dx));
  return reach;
}

int Expression::reach_y() const {
  int reach = 0;
  for (const Tap& tap : taps_) reach = std::max(reach, std::abs(tap.dy));
  return reach;
}

Expression Expression::with_variables(std::vector<std::string> names) const {
  Expression out = *this;
  for (ExpressionNode& node : out.nodes_) {
    if (node.op != ExpressionOp::variable) continue;
    const auto found = std::find(names.begin(), names.end(), variables_[node.index]);
    node.index = static_cast<int>(found - names.begin());
  }
  out.variables_ = std::move(names);
  return out;
}

Expression parse_expression(std::string_view expression, const ExpressionNames& names,
                            const ExpressionPlace& place) {
  return ExpressionParser(expression, names, place).expression();
}

Expression parse_expression(std::string_view expression, const ExpressionNames& names) {
  return parse_expression(expression, names,
                          {expression, {0, static_cast<int>(expression.size())}, "expression"});
}

}  // namespace impipe
