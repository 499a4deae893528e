// How the arguments of a stage find their parameters, and what is said when they don't.
#include "pipeline/arguments.hpp"

#include <gtest/gtest.h>

#include "core/text.hpp"
#include "pipeline/parser.hpp"

namespace impipe::pipeline {
namespace {

const Operator& sample() {
  static const Operator op{
      .name = "op",
      .help = "a sample",
      .category = "test",
      .parameters = {
          {.name = "in",
           .letter = 'i',
           .help = "limits",
           .numbers = {.max_count = 2, .min_count = 2, .low = 0, .high = 1},
           .words = {"stretchlim"}},
          {.name = "gamma",
           .letter = 'g',
           .help = "power",
           .numbers = {.max_count = 1, .low = 0},
           .fallback = "1"},
          {.name = "size",
           .letter = 'k',
           .help = "side",
           .numbers = {.max_count = 1, .integer = true, .odd = true, .low = 1, .high = 99}},
          {.name = "shape", .help = "part", .words = {"full", "same", "valid"}, .fallback = "same"},
          {.name = "thinning", .help = "thin lines", .words = {"thinning", "nothinning", "1", "0"}},
          {.name = "kernel", .help = "weights", .takes = Takes::kernel},
          {.name = "with", .help = "other images", .takes = Takes::operands},
          {.name = "expr", .help = "body", .takes = Takes::expression},
      }};
  return op;
}

// The values as text: name=numbers word {matrix} @path :operands 'text', a '*' where given.
std::string matched(const std::string& text) {
  const Script script = parse(text);
  std::string out;
  for (const auto& [name, v] : match_arguments(script, script.stages.at(0), sample())) {
    if (!out.empty()) out += "; ";
    out += name + (v.given ? "*=" : "=");
    for (size_t i = 0; i < v.numbers.size(); ++i) {
      out += (i > 0 ? "," : "") + number_text(v.numbers[i]);
    }
    if (!v.word.empty()) out += "<" + v.word + ">";
    if (v.matrix) {
      out += "{" + std::to_string(v.matrix->rows) + "x" + std::to_string(v.matrix->columns) + "}";
    }
    if (!v.path.empty()) out += "@" + v.path;
    for (const std::string& o : v.operands) out += ":" + o;
    if (!v.text.empty()) out += "'" + v.text + "'";
  }
  return out;
}

struct Match {
  const char* text;
  const char* values;
};
class MatchTest : public testing::TestWithParam<Match> {};

TEST_P(MatchTest, FindsItsParameter) { EXPECT_EQ(matched(GetParam().text), GetParam().values); }

INSTANTIATE_TEST_SUITE_P(
    Arguments, MatchTest,
    testing::Values(Match{"op", "gamma=1; shape=<same>"},
                    Match{"op in=0.1,0.9", "gamma=1; in*=0.1,0.9; shape=<same>"},
                    Match{"op 0.1,0.9", "gamma=1; in*=0.1,0.9; shape=<same>"},
                    Match{"op 0.1 0.9", "gamma=1; in*=0.1,0.9; shape=<same>"},
                    Match{"op 0.1 0.9 2", "gamma*=2; in*=0.1,0.9; shape=<same>"},
                    Match{"op 0.1,0.9 2 7", "gamma*=2; in*=0.1,0.9; shape=<same>; size*=7"},
                    Match{"op 1%,99%", "gamma=1; in*=0.01,0.99; shape=<same>"},
                    Match{"op [0.2 0.8]/1 k7", "gamma=1; kernel*={1x2}; shape=<same>; size*=7"},
                    Match{"op in=[0.2 0.8]", "gamma=1; in*=0.2,0.8; shape=<same>"},
                    Match{"op g2.5", "gamma*=2.5; shape=<same>"},
                    Match{"op k=9", "gamma=1; shape=<same>; size*=9"},
                    Match{"op stretchlim valid", "gamma=1; in*=<stretchlim>; shape*=<valid>"},
                    Match{"op thinning=0", "gamma=1; shape=<same>; thinning*=<0>"},
                    Match{"op nothinning", "gamma=1; shape=<same>; thinning*=<nothinning>"},
                    Match{"op gaussian,5,1.2", "gamma=1; kernel*=5,1.2<gaussian>; shape=<same>"},
                    Match{"op fspecial:gaussian,5,1.2",
                          "gamma=1; kernel*=5,1.2<gaussian>; shape=<same>"},
                    Match{"op [1 2;3 4]", "gamma=1; kernel*={2x2}; shape=<same>"},
                    Match{"op @k.txt", "gamma=1; kernel*=@k.txt; shape=<same>"},
                    Match{"op :a :b", "gamma=1; shape=<same>; with*=:a:b"},
                    Match{"op 'x + 1'", "expr*='x + 1'; gamma=1; shape=<same>"}));

struct Mistake {
  const char* text;
  const char* message;
};
class MistakeTest : public testing::TestWithParam<Mistake> {};

TEST_P(MistakeTest, SaysWhatAndWhere) {
  try {
    matched(GetParam().text);
    FAIL() << "no error for " << GetParam().text;
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), GetParam().message);
    EXPECT_EQ(e.code(), ExitCode::usage);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Arguments, MistakeTest,
    testing::Values(
        Mistake{"op in=0.1,2",
                "pipeline:1:11: op: in takes 2 numbers from 0 to 1, or stretchlim, not 2\n"
                "  op in=0.1,2\n"
                "            ^"},
        Mistake{"op in=0.1",
                "pipeline:1:7: op: in takes 2 numbers from 0 to 1, or stretchlim, not 1\n"
                "  op in=0.1\n"
                "        ^^^"},
        Mistake{"op in=0,1,1",
                "pipeline:1:11: op: in takes 2 numbers from 0 to 1, or stretchlim, 1 is one too "
                "many\n"
                "  op in=0,1,1\n"
                "            ^"},
        Mistake{"op k8",
                "pipeline:1:4: op: size takes an odd whole number from 1 to 99, not 8\n"
                "  op k8\n"
                "     ^^"},
        Mistake{"op z8",
                "pipeline:1:4: op: there is no parameter with the letter 'z'; it has i (in), g "
                "(gamma), k (size)\n"
                "  op z8\n"
                "     ^^"},
        Mistake{"op gama=2",
                "pipeline:1:4: op: there is no parameter 'gama'; did you mean 'gamma'?\n"
                "  op gama=2\n"
                "     ^^^^"},
        Mistake{"op shape=fall",
                "pipeline:1:10: op: shape takes full, same or valid, not 'fall'; did you mean "
                "'full'?\n"
                "  op shape=fall\n"
                "           ^^^^"},
        Mistake{"op full valid",
                "pipeline:1:9: op: shape is given twice\n"
                "  op full valid\n"
                "          ^^^^^"},
        Mistake{"op gamma=1 g2",
                "pipeline:1:12: op: gamma is given twice\n"
                "  op gamma=1 g2\n"
                "             ^^"},
        Mistake{"op shape=3",
                "pipeline:1:10: op: shape takes full, same or valid\n"
                "  op shape=3\n"
                "           ^"},
        Mistake{"op size=:a",
                "pipeline:1:9: op: size takes an odd whole number from 1 to 99\n"
                "  op size=:a\n"
                "          ^^"}));

}  // namespace
}  // namespace impipe::pipeline
