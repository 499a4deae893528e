// What each form of the pipeline language means, and its canonical text.
#include <gtest/gtest.h>

#include "pipeline/parser.hpp"

namespace impipe::pipeline {
namespace {

std::string text_at(const Script& script, Span span) {
  return script.text.substr(span.begin, span.end - span.begin);
}

// The only item of `op TEXT`.
Item item_of(const std::string& text) {
  const Script script = parse("op " + text);
  EXPECT_EQ(script.stages.size(), 1u);
  EXPECT_EQ(script.stages[0].arguments.size(), 1u) << text;
  EXPECT_EQ(script.stages[0].arguments[0].items.size(), 1u) << text;
  return script.stages[0].arguments[0].items[0];
}

template <class T>
T value_of(const std::string& text) {
  return std::get<T>(item_of(text).value);
}

TEST(Parser, StagesArgumentsAndTheirPlaces) {
  const Script s = parse(" imadjust in=0.1,0.9 |\n edge prewitt k7|mean2", "e.pipe");
  ASSERT_EQ(s.stages.size(), 3u);
  EXPECT_EQ(s.origin, "e.pipe");
  EXPECT_EQ(text_at(s, s.stages[0].span), "imadjust in=0.1,0.9");
  EXPECT_EQ(text_at(s, s.stages[0].name_span), "imadjust");
  EXPECT_EQ(text_at(s, s.stages[1].span), "edge prewitt k7");
  EXPECT_EQ(text_at(s, s.stages[2].span), "mean2");
  const Argument& in = s.stages[0].arguments.at(0);
  EXPECT_EQ(in.key, "in");
  EXPECT_EQ(text_at(s, in.span), "in=0.1,0.9");
  EXPECT_EQ(text_at(s, in.key_span), "in");
  EXPECT_EQ(text_at(s, in.value_span), "0.1,0.9");
  ASSERT_EQ(in.items.size(), 2u);
  EXPECT_EQ(text_at(s, in.items[1].span), "0.9");
  EXPECT_EQ(s.stages[1].arguments.at(0).key, "");
}

TEST(Parser, Numbers) {
  const struct {
    const char* text;
    double value;
    bool percent;
    double fraction;
  } table[] = {
      {"7", 7, false, 7},           {"-0.5", -0.5, false, -0.5}, {"+3", 3, false, 3},
      {".25", 0.25, false, 0.25},   {"5.", 5, false, 5},         {"1e3", 1000, false, 1000},
      {"2.5E-1", 0.25, false, .25}, {"10%", 10, true, 0.1},      {"-2.5%", -2.5, true, -0.025},
      {"1e+2", 100, false, 100},    {"007", 7, false, 7},
  };
  for (const auto& row : table) {
    const Number number = value_of<Number>(row.text);
    EXPECT_EQ(number.value, row.value) << row.text;
    EXPECT_EQ(number.percent, row.percent) << row.text;
    EXPECT_EQ(number.fraction(), row.fraction) << row.text;
  }
}

TEST(Parser, RangesCountAsMatlabDoes) {
  const struct {
    const char* text;
    std::vector<double> values;
  } table[] = {
      {"1:4", {1, 2, 3, 4}},
      {"0:30:150", {0, 30, 60, 90, 120, 150}},
      {"5:-2:0", {5, 3, 1}},
      {"-1:1", {-1, 0, 1}},
      {"3:3", {3}},
      {"1:2.5", {1, 2}},
      {"0:0.1:0.3", {0, 0.1, 0.2, 0.3}},  // 0.3 / 0.1 is just below 3
  };
  for (const auto& row : table) {
    const Range range = value_of<Range>(row.text);
    EXPECT_EQ(range.count(), static_cast<std::int64_t>(row.values.size())) << row.text;
    EXPECT_EQ(range.values(), row.values) << row.text;
  }
  EXPECT_EQ(value_of<Range>("0:0.5:179.5").count(), 360);
  EXPECT_EQ(value_of<Range>("1:100000").count(), largest_range);
}

TEST(Parser, Words) {
  for (const char* text : {"prewitt",
                           "floyd-steinberg",
                           "out/{stem}.png",
                           "in.%04d.exr",
                           "a_b",
                           "{dir}/{index:05}_{frame:04}.png",
                           "k7abc",
                           "inf",
                           "-inf",
                           "nan",
                           "*",
                           "img.#.tif",
                           "~/x",
                           "2024_x",
                           "1.2.3",
                           "-",
                           "{{x}}",
                           "größe",
                           "5px",
                           "a@2x",
                           "e",
                           "k",
                           "0x10",
                           "1e"}) {
    const Word word = value_of<Word>(text);
    EXPECT_EQ(word.text, text);
    EXPECT_TRUE(word.argument.empty()) << text;
  }
}

TEST(Parser, MatricesWithNanAreEqualToThemselves) {
  const Script s = parse("imresize [256 NaN]");
  EXPECT_TRUE(s == parse("imresize [256 nan]"));
  EXPECT_TRUE(s == parse(print(s)));
  for (const char* other : {"imresize [NaN 256]", "imresize [256 1]", "imresize [256 NaN 1]",
                            "imresize [256; NaN]", "imresize [256 NaN]/2"}) {
    EXPECT_FALSE(s == parse(other)) << other;
  }
}

TEST(Parser, WordsWithArguments) {
  const Script s = parse("conv2 fspecial:gaussian,5,1.2 disk:3 se=disk,3,0 file:@k.txt r1:2");
  const auto& arguments = s.stages[0].arguments;
  ASSERT_EQ(arguments.size(), 5u);
  const std::vector<Item>& gaussian = arguments[0].items;
  ASSERT_EQ(gaussian.size(), 3u);
  const Word& word = std::get<Word>(gaussian[0].value);
  EXPECT_EQ(word.text, "fspecial");
  EXPECT_EQ(std::get<Word>(word.argument.at(0).value).text, "gaussian");
  EXPECT_EQ(text_at(s, gaussian[0].span), "fspecial:gaussian");
  EXPECT_EQ(text_at(s, word.argument[0].span), "gaussian");
  EXPECT_EQ(std::get<Number>(gaussian[2].value).value, 1.2);
  EXPECT_EQ(std::get<Number>(std::get<Word>(arguments[1].items[0].value).argument.at(0).value),
            (Number{3, false}));
  EXPECT_EQ(arguments[2].items.size(), 3u);
  EXPECT_EQ(std::get<File>(std::get<Word>(arguments[3].items[0].value).argument.at(0).value).path,
            "k.txt");
  EXPECT_EQ(std::get<Word>(arguments[4].items[0].value).text, "r1");
}

TEST(Parser, LettersWithNumbersKeepTheirText) {
  const struct {
    const char* text;
    char letter;
    double value;
  } table[] = {{"k7", 'k', 7},  {"r-1", 'r', -1},  {"t0.1", 't', 0.1},  {"a01", 'a', 1},
               {"s+2", 's', 2}, {"T.5", 'T', 0.5}, {"t1e-3", 't', 1e-3}};
  for (const auto& row : table) {
    EXPECT_EQ(value_of<LetterNumber>(row.text), (LetterNumber{row.letter, row.value, row.text}));
  }
}

TEST(Parser, Quotes) {
  EXPECT_EQ(value_of<Quoted>("'x | y, z=1 # [2'").text, "x | y, z=1 # [2");
  EXPECT_EQ(value_of<Quoted>("'it''s'").text, "it's");
  EXPECT_EQ(value_of<Quoted>("''").text, "");
  EXPECT_EQ(value_of<Quoted>("''''").text, "'");
  EXPECT_EQ(value_of<Quoted>("\"it's \"\"it\"\"\"").text, "it's \"it\"");
}

TEST(Parser, Matrices) {
  const struct {
    const char* text;
    Matrix matrix;
  } table[] = {
      {"[1 2;3 4]", {2, 2, {1, 2, 3, 4}, 1}},
      {"[1,2;3,4]/10", {2, 2, {1, 2, 3, 4}, 10}},
      {"[ 1 , -2 ; +3 .5 ]", {2, 2, {1, -2, 3, 0.5}, 1}},
      {"[1;0;-1]", {3, 1, {1, 0, -1}, 1}},
      {"[7]/-2e1", {1, 1, {7}, -20}},
      {"[1 2\n 3 4]", {2, 2, {1, 2, 3, 4}, 1}},
      {"[\n1 2;\r\n3 4\n\n]", {2, 2, {1, 2, 3, 4}, 1}},
  };
  for (const auto& row : table) EXPECT_EQ(value_of<Matrix>(row.text), row.matrix) << row.text;
  EXPECT_EQ(value_of<Matrix>("[1 2;3 4]/10").values(),
            (std::vector<double>{1 / 10., 2 / 10., 3 / 10., 4 / 10.}));
}

TEST(Parser, FilesAndOperands) {
  EXPECT_EQ(value_of<File>("@a/b=c:[1].txt").path, "a/b=c:[1].txt");
  EXPECT_EQ(value_of<File>("@'my kernel|1,2.txt'").path, "my kernel|1,2.txt");
  EXPECT_EQ(value_of<Operand>(":a_1").name, "a_1");
  EXPECT_EQ(value_of<Operand>("$a").name, "a");
}

TEST(Parser, FilesMayHaveCommentsAndLines) {
  const Script script = parse(
      "\xEF\xBB\xBF#!/usr/bin/env -S impipe -f\r\n"
      "as a   # keep it | really\r\n"
      "| conv2 kernel=[1 2 # first row\n"
      "                3 4] save.#.png 'no # comment'\n"
      "    | imlincomb 1, # the current image\n"
      "      -1 $a\n"
      "# end",
      "x.pipe", TextKind::file);
  EXPECT_EQ(print(script),
            "as a | conv2 kernel=[1 2;3 4] save.#.png 'no # comment' | imlincomb 1,-1 :a");
}

TEST(Print, IsCanonical) {
  const struct {
    const char* text;
    const char* printed;
  } table[] = {
      {"  a|b  ", "a | b"},
      {"a 0.10 1e22 1e-7 100000 -0 50.0%", "a 0.1 1e+22 1e-07 100000 -0 50%"},
      {"a k=1, 2,3", "a k=1,2,3"},
      {"a 0:1:5 5:-1:0", "a 0:5 5:-1:0"},
      {"a [1, 2 ;3 4 ]/2.0 [1]/1", "a [1 2;3 4]/2 [1]"},
      {"a \"it's\" $b @'k.txt' @'my k.txt'", "a 'it''s' :b @k.txt @'my k.txt'"},
      {"a fspecial:gaussian,5,1.20 a01", "a fspecial:gaussian,5,1.2 a01"},
  };
  for (const auto& row : table) {
    const Script script = parse(row.text);
    EXPECT_EQ(print(script), row.printed);
    EXPECT_EQ(parse(print(script)), script) << row.text;
  }
}

TEST(Script, EqualityIsOfMeaningNotOfPlace) {
  EXPECT_EQ(parse("a  b | c 1.0"), parse("a b|c 1"));
  for (const char* other : {"a b | c", "a b | c 2", "a b | c 1%", "a b | d 1", "a x=b | c 1",
                            "a 'b' | c 1", "a b:c | c 1", "a b,c | c 1"}) {
    EXPECT_FALSE(parse("a b | c 1") == parse(other)) << other;
  }
}

}  // namespace
}  // namespace impipe::pipeline
