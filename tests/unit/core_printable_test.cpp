// What is shown of texts that come from outside.
#include "core/printable.hpp"

#include <gtest/gtest.h>

namespace impipe {
namespace {

TEST(Printable, EscapesWhatATerminalObeysAndNothingElse) {
  struct Case {
    const char* text;
    const char* shown;
  };
  const Case cases[] = {{"", ""},
                        {"plain name.png", "plain name.png"},
                        {"größe € 日本 \xF0\x9F\x98\x80", "größe € 日本 \xF0\x9F\x98\x80"},
                        {"a\tb\nc\rd", "a\\tb\\nc\\rd"},
                        {"\x1b[2J\x07\x7f", "\\x1b[2J\\x07\\x7f"},
                        {"\xC2\x9B"
                         "1m",
                         "\\u009b1m"},
                        {"\xE2\x80\xAE"
                         "gnp.a",
                         "\\u202egnp.a"},
                        {"\xE2\x81\xA6\xE2\x80\xA8\xD8\x9C", "\\u2066\\u2028\\u061c"},
                        {"a\xff\xC3", "a\\xff\\xc3"},
                        {"\xC3\xA9\x80\xC3\xA9", "é\\x80é"},
                        {"\xED\xA0\x80", "\\xed\\xa0\\x80"},  // a surrogate
                        {"back\\slash", "back\\slash"}};
  for (const Case& c : cases) EXPECT_EQ(printable(c.text), c.shown);
}

TEST(Printable, ACellCanBeReadBack) { EXPECT_EQ(printable_cell("a\\tb\tc\n"), "a\\\\tb\\tc\\n"); }

TEST(Printable, LinesAfterTheFirstAreIndented) {
  EXPECT_EQ(printable_message("what\n  text\n  ^^^^"), "what\n  text\n  ^^^^");
  EXPECT_EQ(printable_message("x\nimpipe: y\n\nz\x1b"), "x\n  impipe: y\n\n  z\\x1b");
}

TEST(Printable, InPlaceEachCharacterStaysOne) {
  EXPECT_EQ(printable_in_place("a\tb\xC2\x9B\xE2\x80\xAE\xff!"), "a b\xEF\xBF\xBD\xEF\xBF\xBD?!");
}

}  // namespace
}  // namespace impipe
