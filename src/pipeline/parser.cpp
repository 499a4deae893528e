// Turns the text of a pipeline into a Script: one pass, no backtracking, bounded depth and size.
#include "pipeline/parser.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "core/text.hpp"

namespace impipe::pipeline {
namespace {

// No real pipeline comes near these; they keep any text from exhausting memory or the stack.
constexpr std::size_t longest_text = 1 << 20;
constexpr std::size_t max_stages = 1000;
constexpr std::size_t max_arguments = 1000;  // of one stage
constexpr int max_items = 100'000;
constexpr std::int64_t max_range_values = 2 * largest_range;  // of all ranges together
constexpr int deepest_word = 8;                               // a:b:c:…

constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
constexpr bool is_quote(char c) { return c == '\'' || c == '"'; }
constexpr bool is_word_char(char c) {
  return is_name_char(c) || static_cast<unsigned char>(c) >= 0x80 ||
         std::string_view("./-+%*#~{}@?^!\\").find(c) != std::string_view::npos;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view origin, TextKind kind)
      : text_(text), origin_(origin), kind_(kind) {}

  Script script();

 private:
  Stage stage();
  Argument argument(const Stage& so_far);
  Item item(int depth);
  std::string quoted();
  Matrix matrix();
  void end_row(Matrix& matrix, std::size_t row_begin, std::size_t row_end);
  double divisor();
  File file();
  Operand operand();
  Range range(std::size_t begin, std::string_view first);
  Word word(std::size_t begin, std::string_view text, int depth);

  void check_text();
  void skip_space();
  void skip_comment();
  void expect_separator();
  double number(std::size_t begin, std::string_view text) const;

  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  // Whether a value cannot start here because there is nothing.
  bool at_gap() const { return at_end() || is_space(peek()) || peek() == '|' || peek() == ','; }
  std::string_view run(std::size_t begin) const;
  std::string shown(std::size_t begin) const;
  std::string_view from(std::size_t begin) const { return text_.substr(begin, at_ - begin); }
  Span span_from(std::size_t begin) const { return span(begin, at_); }
  static Span span(std::size_t begin, std::size_t end) {
    return {static_cast<int>(begin), static_cast<int>(end)};
  }
  [[noreturn]] void fail(std::size_t begin, std::size_t end, std::string_view message) const {
    throw error_at(text_, span(begin, end), message, origin_);
  }
  // Fails at the character, or the word, that stands here.
  [[noreturn]] void fail_here(std::string_view message) const {
    fail(at_, at_ + std::max<std::size_t>(1, run(at_).size()), message);
  }

  std::string_view text_;
  std::string_view origin_;
  TextKind kind_;
  std::size_t at_ = 0;
  int items_ = 0;
  std::int64_t range_values_ = 0;
};

// The word that starts at `begin`; empty when none does.
std::string_view Parser::run(std::size_t begin) const {
  std::size_t end = begin;
  int braces = 0;  // {index:05} is one word
  while (end < text_.size() && (is_word_char(text_[end]) || (text_[end] == ':' && braces > 0))) {
    if (text_[end] == '{') ++braces;
    if (text_[end] == '}' && braces > 0) --braces;
    ++end;
  }
  return text_.substr(begin, end - begin);
}

// What stands at `begin`, in quotes, for messages.
std::string Parser::shown(std::size_t begin) const {
  constexpr std::size_t longest = 40;
  std::string_view word = run(begin);
  if (word.empty()) word = text_.substr(begin, 1);
  if (word.size() <= longest) return word == "'" ? "\"'\"" : "'" + std::string(word) + "'";
  std::size_t end = longest;
  while ((word[end] & 0xC0) == 0x80) --end;
  return "'" + std::string(word.substr(0, end)) + "…'";
}

void Parser::check_text() {
  if (text_.size() > longest_text) {
    throw error_at(text_.substr(0, 0), {}, "the pipeline is longer than a million characters",
                   origin_);
  }
  if (const auto invalid = invalid_utf8(text_)) {
    std::string readable(text_);
    std::replace_if(
        readable.begin() + static_cast<std::ptrdiff_t>(*invalid), readable.end(),
        [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
    throw error_at(readable, span(*invalid, *invalid + 1), "the text is not valid UTF-8", origin_);
  }
  for (std::size_t i = 0; i < text_.size(); ++i) {
    const auto c = static_cast<unsigned char>(text_[i]);
    if ((c >= 0x20 && c != 0x7F) || is_space(text_[i])) continue;
    char message[64];
    std::snprintf(message, sizeof message, "control character 0x%02x in the text", c);
    fail(i, i + 1, message);
  }
}

void Parser::skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

void Parser::skip_space() {
  while (!at_end()) {
    if (is_space(peek())) {
      ++at_;
    } else if (kind_ == TextKind::file && peek() == '#') {
      skip_comment();
    } else {
      return;
    }
  }
}

// After a name or an item, something must keep the next one apart.
void Parser::expect_separator() {
  if (at_gap()) return;
  switch (peek()) {
    case '=': fail_here("'=' can only follow a parameter's name; quote a text that contains it");
    case ':': fail_here("':' can only follow a word or a number");
    case '(': fail_here("calls are not part of the pipeline language; write the value itself");
    case ';': fail_here("';' separates the rows of a matrix; arguments are separated by spaces");
    default: break;
  }
  if (is_word_char(peek()) || is_quote(peek()) || peek() == '[' || peek() == '$') {
    fail_here("a space is missing before " + shown(at_));
  }
  fail_here(shown(at_) + " has no meaning here; quote a text that contains it");
}

double Parser::number(std::size_t begin, std::string_view text) const {
  const auto value = number_value(text);
  if (!value) {
    fail(begin, begin + text.size(), shown(begin) + " does not fit a double-precision number");
  }
  return *value;
}

std::string Parser::quoted() {
  const std::size_t begin = at_;
  const char quote = peek();
  std::string out;
  for (++at_; !at_end() && peek() != '\n' && peek() != '\r'; ++at_) {
    if (peek() == quote) {
      if (at_ + 1 == text_.size() || text_[at_ + 1] != quote) {
        ++at_;
        return out;
      }
      ++at_;
    }
    out += peek();
  }
  fail(begin, begin + 1, "the quote is not closed on its line");
}

void Parser::end_row(Matrix& matrix, std::size_t row_begin, std::size_t row_end) {
  const int total = static_cast<int>(matrix.elements.size());
  const int columns = total - matrix.rows * matrix.columns;
  if (matrix.rows > 0 && columns != matrix.columns) {
    fail(row_begin, row_end,
         "this row has " + std::to_string(columns) + (columns == 1 ? " number" : " numbers") +
             ", the first row has " + std::to_string(matrix.columns));
  }
  matrix.columns = columns;
  ++matrix.rows;
}

Matrix Parser::matrix() {
  const std::size_t begin = at_;
  Matrix out;
  std::size_t row_begin = 0, row_end = 0;
  bool in_row = false, after_comma = false, after_semicolon = false;
  for (++at_;;) {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r') ++at_;
    if (kind_ == TextKind::file && peek() == '#') skip_comment();
    if (at_end() || peek() == '|') fail(begin, begin + 1, "the matrix has no closing ']'");
    const char c = peek();
    if (c == ',') {
      if (!in_row || after_comma) fail_here("a number is missing before ','");
      after_comma = true;
    } else if (c == ']' || c == ';' || c == '\n') {
      if (after_comma) fail_here("a number is missing after ','");
      if (in_row) {
        end_row(out, row_begin, row_end);
      } else if (c == ';' || (c == ']' && after_semicolon)) {
        fail_here("a row of the matrix is empty");
      }
      if (c != '\n' || in_row) after_semicolon = c == ';';
      in_row = false;
    } else {
      const std::string_view text = run(at_);
      const std::optional<double> special = special_number(text);
      if (!special && !is_number(text)) {
        fail_here(text.find('/') != text.npos && is_number(text.substr(0, text.find('/')))
                      ? "only a whole matrix can be divided: [1 2; 3 4]/10"
                      : shown(at_) + " is not a number; a matrix is written [1 2; 3 4]");
      }
      if (!in_row) row_begin = at_;
      out.elements.push_back(special ? *special : number(at_, text));
      in_row = true;
      after_comma = false;
      at_ += text.size();
      row_end = at_;
      continue;
    }
    ++at_;
    if (c == ']') break;
  }
  out.divisor = divisor();
  return out;
}

// What may follow a matrix: '/' and a number.
double Parser::divisor() {
  const std::size_t close = at_;
  skip_space();
  const std::size_t slash = std::exchange(at_, close);
  if (slash == text_.size() || text_[slash] != '/') return 1;
  if (slash > at_) {
    const std::string_view next = run(slash).substr(1);
    if (!next.empty() && !is_digit(next[0])) return 1;  // the next argument is a path
    fail(slash, slash + 1, "no space may stand between ']' and '/'");
  }
  const std::size_t begin = at_ + 1;
  const std::string_view text = run(begin);
  if (!is_number(text)) fail(at_, begin + text.size(), "a number is missing after ']/'");
  at_ = begin + text.size();
  const double value = number(begin, text);
  if (value == 0) fail(begin, at_, "a matrix cannot be divided by 0");
  return value;
}

File Parser::file() {
  const std::size_t begin = at_++;
  File out;
  if (is_quote(peek())) {
    out.path = quoted();
  } else {
    while (!at_gap()) {
      if (is_quote(peek())) fail_here("quote the whole path: @'my kernel.txt'");
      out.path += text_[at_++];
    }
  }
  if (out.path.empty()) fail(begin, at_, "a file's path is missing after '@'");
  return out;
}

Operand Parser::operand() {
  const std::size_t begin = at_++;
  const std::size_t length = name_length(text_.substr(at_));
  if (length == 0) {
    fail(begin, at_, "an image's name is missing after '" + std::string(from(begin)) + "'");
  }
  at_ += length;
  return {std::string(text_.substr(at_ - length, length))};
}

Range Parser::range(std::size_t begin, std::string_view first) {
  std::vector<double> parts = {number(begin, first)};
  while (peek() == ':') {
    const std::size_t colon = at_++;
    const std::string_view text = run(at_);
    if (text.empty()) fail(colon, colon + 1, "a number is missing after ':'");
    if (!is_number(text)) {
      fail_here(shown(at_) + " is not a number; a range is first:last or first:step:last");
    }
    parts.push_back(number(at_, text));
    at_ += text.size();
    if (parts.size() > 3) {
      fail(begin, at_, "a range has two or three numbers: first:last or first:step:last");
    }
  }
  const Range out{parts.front(), parts.size() == 3 ? parts[1] : 1, parts.back()};
  if (out.step == 0) fail(begin, at_, "the step of a range cannot be 0");
  const auto count = out.count();
  if (count == 0) {
    fail(begin, at_,
         "the range is empty: steps of " + number_text(out.step) + " do not lead from " +
             number_text(out.first) + " to " + number_text(out.last));
  }
  if (count > largest_range) {
    fail(begin, at_, "the range has more than " + std::to_string(largest_range) + " values");
  }
  range_values_ += count;
  if (range_values_ > max_range_values) {
    fail(begin, at_,
         "the ranges up to here have more than " + std::to_string(max_range_values) + " values");
  }
  return out;
}

Word Parser::word(std::size_t begin, std::string_view text, int depth) {
  Word out{std::string(text), {}};
  if (peek() != ':') return out;
  ++at_;
  if (at_gap()) fail(begin, at_, "a value is missing after '" + std::string(text) + ":'");
  if (depth == deepest_word) fail(begin, at_, "too many ':' in one value");
  out.argument.push_back(item(depth + 1));
  return out;
}

Item Parser::item(int depth) {
  const std::size_t begin = at_;
  if (++items_ > max_items) fail_here("the pipeline has too many values");
  Item out;
  switch (peek()) {
    case '\'':
    case '"': out.value = Quoted{quoted()}; break;
    case '[': out.value = matrix(); break;
    case '@': out.value = file(); break;
    case ':':
    case '$': out.value = operand(); break;
    case ',': fail_here("a value is missing before ','");
    case '=': fail_here("a parameter's name is missing before '='");
    case '#': fail_here("comments belong in pipeline files; quote a text that starts with '#'");
    default: {
      const std::string_view text = run(begin);
      if (text.empty()) expect_separator();
      at_ += text.size();
      if (is_number(text) && peek() == ':') {
        out.value = range(begin, text);
      } else if (is_number(text)) {
        out.value = Number{number(begin, text), false};
      } else if (text.ends_with('%') && is_number(text.substr(0, text.size() - 1))) {
        out.value = Number{number(begin, text.substr(0, text.size() - 1)), true};
      } else if (is_letter(text[0]) && is_number(text.substr(1)) && peek() != ':') {
        out.value = LetterNumber{text[0], number(begin + 1, text.substr(1)), std::string(text)};
      } else {
        out.value = word(begin, text, depth);
      }
    }
  }
  out.span = span_from(begin);
  if (depth == 0) expect_separator();
  return out;
}

Argument Parser::argument(const Stage& so_far) {
  const std::size_t begin = at_;
  Argument out;
  const std::size_t length = name_length(text_.substr(begin));
  if (length > 0 && begin + length < text_.size() && text_[begin + length] == '=') {
    out.key = text_.substr(begin, length);
    out.key_span = span(begin, begin + length);
    at_ += length + 1;
    if (at_gap()) fail(begin, at_, "a value is missing after '" + out.key + "='");
    for (const Argument& earlier : so_far.arguments) {
      if (earlier.key == out.key) {
        fail(begin, begin + length, "'" + out.key + "' is given twice in one stage");
      }
    }
  }
  const std::size_t value_begin = at_;
  for (;;) {
    out.items.push_back(item(0));
    out.value_span = span_from(value_begin);
    out.span = span_from(begin);
    if (peek() != ',') return out;
    const std::size_t comma = at_++;
    skip_space();
    if (at_gap()) fail(comma, comma + 1, "a value is missing after ','");
  }
}

Stage Parser::stage() {
  const std::size_t begin = at_;
  const std::string_view name = run(begin);
  if (!is_name(name)) {
    fail_here(peek() == '#' ? "comments belong in pipeline files"
                            : "a stage starts with an operator's name, not with " + shown(at_));
  }
  Stage out;
  out.name = name;
  at_ += name.size();
  out.name_span = span_from(begin);
  if (peek() == ':') fail_here("arguments are separated by spaces: '" + out.name + " key=value'");
  if (peek() == '(') fail_here("arguments are separated by spaces, without parentheses");
  if (peek() == '=')
    fail(begin, at_ + 1, "an operator's name is missing before '" + out.name + "='");
  expect_separator();
  for (;;) {
    out.span = span_from(begin);
    skip_space();
    if (at_end() || peek() == '|') return out;
    if (out.arguments.size() == max_arguments) fail_here("the stage has too many arguments");
    out.arguments.push_back(argument(out));
  }
}

Script Parser::script() {
  check_text();
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // a byte order mark, as some editors write
  Script out{std::string(text_), std::string(origin_), {}};
  skip_space();
  if (at_end()) {
    // A file may be empty because writing it failed.
    if (kind_ == TextKind::file) fail(0, 0, "the pipeline is empty");
    return out;
  }
  for (;;) {
    if (peek() == '|') {
      fail_here(out.stages.empty() ? "a stage is missing before '|'"
                                   : "a stage is missing between '|' and '|'");
    }
    if (out.stages.size() == max_stages) fail_here("the pipeline has more than 1000 stages");
    out.stages.push_back(stage());
    if (at_end()) return out;
    const std::size_t bar = at_++;
    skip_space();
    if (at_end()) fail(bar, bar + 1, "a stage is missing after '|'");
  }
}

}  // namespace

Script parse(std::string_view text, std::string_view origin, TextKind kind) {
  return Parser(text, origin, kind).script();
}

}  // namespace impipe::pipeline
