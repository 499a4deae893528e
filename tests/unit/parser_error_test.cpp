// The whole message of every error of the pipeline language.
#include <gtest/gtest.h>

#include "pipeline/parser.hpp"

namespace impipe::pipeline {
namespace {

std::string error_of(std::string_view text, TextKind kind = TextKind::command_line,
                     std::string_view origin = "pipeline") {
  try {
    parse(text, origin, kind);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(ParserError, ShowsTheLineAndThePlace) {
  EXPECT_EQ(error_of("imadjust | | mean2"),
            "pipeline:1:12: a stage is missing between '|' and '|'\n"
            "  imadjust | | mean2\n"
            "             ^");
  EXPECT_EQ(error_of("imadjust\n | conv2 kernel=[1 2; 3]\n | mean2", TextKind::file, "edges.pipe"),
            "edges.pipe:2:23: this row has 1 number, the first row has 2\n"
            "   | conv2 kernel=[1 2; 3]\n"
            "                        ^");
  EXPECT_EQ(error_of("", TextKind::file, "edges.pipe"),
            "edges.pipe:1:1: the pipeline is empty\n"
            "  \n"
            "  ^");
}

// The message of an error on one line of text: from `column` (from 1, in characters), so many
// carets.
struct Row {
  std::string_view text;
  int column;
  int carets;
  std::string_view message;
};

void check(const Row& row, TextKind kind = TextKind::command_line) {
  const std::string expected = "pipeline:1:" + std::to_string(row.column) + ": " +
                               std::string(row.message) + "\n  " + std::string(row.text) + "\n  " +
                               std::string(row.column - 1, ' ') + std::string(row.carets, '^');
  EXPECT_EQ(error_of(row.text, kind), expected);
}

TEST(ParserError, Stages) {
  const Row table[] = {
      {"|", 1, 1, "a stage is missing before '|'"},
      {"| a", 1, 1, "a stage is missing before '|'"},
      {"a |", 3, 1, "a stage is missing after '|'"},
      {"a | ", 3, 1, "a stage is missing after '|'"},
      {"a||b", 3, 1, "a stage is missing between '|' and '|'"},
      {"7 | a", 1, 1, "a stage starts with an operator's name, not with '7'"},
      {"a | im-adjust x", 5, 9, "a stage starts with an operator's name, not with 'im-adjust'"},
      {"'a'", 1, 1, "a stage starts with an operator's name, not with \"'\""},
      {"@a", 1, 2, "a stage starts with an operator's name, not with '@a'"},
      {"größe", 1, 5, "a stage starts with an operator's name, not with 'größe'"},
      {"=a", 1, 1, "a stage starts with an operator's name, not with '='"},
      {"# a", 1, 1, "comments belong in pipeline files"},
      {"edge:method=prewitt", 5, 1, "arguments are separated by spaces: 'edge key=value'"},
      {"imadjust(0.1)", 9, 1, "arguments are separated by spaces, without parentheses"},
      {"a | k=3", 5, 2, "an operator's name is missing before 'k='"},
      {"a,b", 2, 1, "a value is missing before ','"},
      {"a'b'", 2, 1, "a space is missing before \"'\""},
      {"a[1]", 2, 1, "a space is missing before '['"},
      {"a&b", 2, 1, "'&' has no meaning here; quote a text that contains it"},
      {"a;b", 2, 1, "';' separates the rows of a matrix; arguments are separated by spaces"},
  };
  for (const Row& row : table) check(row);
}

TEST(ParserError, Arguments) {
  const Row table[] = {
      {"a k=", 3, 2, "a value is missing after 'k='"},
      {"a k= 3", 3, 2, "a value is missing after 'k='"},
      {"a k=|b", 3, 2, "a value is missing after 'k='"},
      {"a k=,3", 3, 2, "a value is missing after 'k='"},
      {"a =3", 3, 1, "a parameter's name is missing before '='"},
      {"a k==3", 5, 1, "a parameter's name is missing before '='"},
      {"a k=1 j=2 k=3", 11, 1, "'k' is given twice in one stage"},
      {"a b=c=d", 6, 1, "'=' can only follow a parameter's name; quote a text that contains it"},
      {"a b/c=d", 6, 1, "'=' can only follow a parameter's name; quote a text that contains it"},
      {"a 1,", 4, 1, "a value is missing after ','"},
      {"a 1, | b", 4, 1, "a value is missing after ','"},
      {"a 1,,2", 4, 1, "a value is missing after ','"},
      {"a ,2", 3, 1, "a value is missing before ','"},
      {"a 1 ,2", 5, 1, "a value is missing before ','"},
      {"a sigma=sqrt(2)", 13, 1,
       "calls are not part of the pipeline language; write the value itself"},
      {"a 1;2", 4, 1, "';' separates the rows of a matrix; arguments are separated by spaces"},
      {"a > b.png", 3, 1, "'>' has no meaning here; quote a text that contains it"},
      {"a b] c", 4, 1, "']' has no meaning here; quote a text that contains it"},
      {"a #b", 3, 2, "comments belong in pipeline files; quote a text that starts with '#'"},
      {"a 1e999", 3, 5, "'1e999' does not fit a double-precision number"},
      {"a -1e-999%", 3, 7, "'-1e-999%' does not fit a double-precision number"},
      {"a k1e999", 4, 5, "'1e999' does not fit a double-precision number"},
      {"a x:", 3, 2, "a value is missing after 'x:'"},
      {"a x: 3", 3, 2, "a value is missing after 'x:'"},
      {"a x:y:", 5, 2, "a value is missing after 'y:'"},
      {"a 'b':c", 6, 1, "':' can only follow a word or a number"},
      {"a a:b:c:d:e:f:g:h:i:j:k", 19, 2, "too many ':' in one value"},
  };
  for (const Row& row : table) check(row);
}

TEST(ParserError, RangesFilesAndImages) {
  const Row table[] = {
      {"a 0:", 4, 1, "a number is missing after ':'"},
      {"a 0:1:", 6, 1, "a number is missing after ':'"},
      {"a 0:end", 5, 3, "'end' is not a number; a range is first:last or first:step:last"},
      {"a 0:1:2:3", 3, 7, "a range has two or three numbers: first:last or first:step:last"},
      {"a 0:0:9", 3, 5, "the step of a range cannot be 0"},
      {"a 9:0", 3, 3, "the range is empty: steps of 1 do not lead from 9 to 0"},
      {"a 0:-0.5:9", 3, 8, "the range is empty: steps of -0.5 do not lead from 0 to 9"},
      {"a 0:100000", 3, 8, "the range has more than 100000 values"},
      {"a 0:1e-300:1e300", 3, 14, "the range has more than 100000 values"},
      {"a -1e308:1e308", 3, 12, "the range has more than 100000 values"},
      {"a 5%:9", 5, 1, "':' can only follow a word or a number"},
      {"a @", 3, 1, "a file's path is missing after '@'"},
      {"a @''", 3, 3, "a file's path is missing after '@'"},
      {"a @my'k'", 6, 1, "quote the whole path: @'my kernel.txt'"},
      {"a :", 3, 1, "an image's name is missing after ':'"},
      {"a $1", 3, 1, "an image's name is missing after '$'"},
      {"a :b.c", 5, 2, "a space is missing before '.c'"},
  };
  for (const Row& row : table) check(row);
}

TEST(ParserError, QuotesAndMatrices) {
  const Row table[] = {
      {"a 'b | c", 3, 1, "the quote is not closed on its line"},
      {"a 'b''", 3, 1, "the quote is not closed on its line"},
      {"a \"b'", 3, 1, "the quote is not closed on its line"},
      {"a 'b'c", 6, 1, "a space is missing before 'c'"},
      {"a [1 2", 3, 1, "the matrix has no closing ']'"},
      {"a [1 2 | b", 3, 1, "the matrix has no closing ']'"},
      {"a [1 2;]", 8, 1, "a row of the matrix is empty"},
      {"a [;1]", 4, 1, "a row of the matrix is empty"},
      {"a [1;;2]", 6, 1, "a row of the matrix is empty"},
      {"a [1 2;3 4;5 6 7]", 12, 5, "this row has 3 numbers, the first row has 2"},
      {"a [1,]", 6, 1, "a number is missing after ','"},
      {"a [1,,2]", 6, 1, "a number is missing before ','"},
      {"a [,1]", 4, 1, "a number is missing before ','"},
      {"a [1 x]", 6, 1, "'x' is not a number; a matrix is written [1 2; 3 4]"},
      {"a [1:3]", 5, 1, "':' is not a number; a matrix is written [1 2; 3 4]"},
      {"a [1/9 2/9]", 4, 3, "only a whole matrix can be divided: [1 2; 3 4]/10"},
      {"a [1]/", 6, 1, "a number is missing after ']/'"},
      {"a [1]/x", 6, 2, "a number is missing after ']/'"},
      {"a [1]/0", 7, 1, "a matrix cannot be divided by 0"},
      {"a [1] / 9", 7, 1, "no space may stand between ']' and '/'"},
      {"a [1] /|b", 7, 1, "no space may stand between ']' and '/'"},
      {"a [1] /9", 7, 1, "no space may stand between ']' and '/'"},
      {"a [1e999]", 4, 5, "'1e999' does not fit a double-precision number"},
      {"a [1]2", 6, 1, "a space is missing before '2'"},
      {"a [1][2]", 6, 1, "a space is missing before '['"},
  };
  for (const Row& row : table) check(row);
  EXPECT_EQ(error_of("a [1]\n/10"),
            "pipeline:2:1: no space may stand between ']' and '/'\n  /10\n  ^");
  EXPECT_EQ(error_of("a 'b\nc'"),
            "pipeline:1:3: the quote is not closed on its line\n  a 'b\n    ^");
}

TEST(ParserError, Bytes) {
  EXPECT_EQ(error_of(std::string_view("a\0b", 3)),
            "pipeline:1:2: control character 0x00 in the text\n  a b\n   ^");
  EXPECT_EQ(error_of("a \x1b[31m"),
            "pipeline:1:3: control character 0x1b in the text\n  a  [31m\n    ^");
  for (const char* invalid :
       {"a 'é\xC3'", "a 'é\x80'", "a 'é\xFF'", "a 'é\xC0\x80'", "a 'é\xED\xA0\x80'"}) {
    const std::string shown = error_of(invalid);
    EXPECT_TRUE(shown.starts_with("pipeline:1:5: the text is not valid UTF-8\n  a 'é?")) << shown;
  }
}

TEST(ParserError, LimitsOfSize) {
  const auto repeat = [](int n, std::string_view text) {
    std::string out;
    while (n-- > 0) out += text;
    return out;
  };
  const auto message_of = [](const std::string& text) {
    const std::string whole = error_of(text);
    return whole.substr(0, whole.find('\n'));
  };
  EXPECT_EQ(message_of("a" + repeat(999, "|a")), "no error");
  EXPECT_EQ(message_of("a" + repeat(1000, "|a")),
            "pipeline:1:2001: the pipeline has more than 1000 stages");
  EXPECT_EQ(message_of("a" + repeat(1001, " 1")),
            "pipeline:1:2003: the stage has too many arguments");
  EXPECT_EQ(message_of("a 1" + repeat(100'000, ",1")),
            "pipeline:1:200003: the pipeline has too many values");
  EXPECT_EQ(message_of("a 1:100000 1:100000"), "no error");
  EXPECT_EQ(message_of("a 1:100000 | b 1:100000 1:2"),
            "pipeline:1:25: the ranges up to here have more than 200000 values");
  EXPECT_EQ(error_of("a" + repeat(1 << 20, " ")),
            "pipeline:1:1: the pipeline is longer than a million characters\n  \n  ^");
}

}  // namespace
}  // namespace impipe::pipeline
