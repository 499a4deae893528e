// The place an error shows: the line of the text and carets under the span.
#include "core/error.hpp"

#include <gtest/gtest.h>

namespace impipe {
namespace {

TEST(ErrorAt, ShowsLineColumnAndCarets) {
  const Error e = error_at("imadjust | conv3 k7", {11, 16}, "unknown operator 'conv3'");
  EXPECT_STREQ(e.what(),
               "pipeline:1:12: unknown operator 'conv3'\n"
               "  imadjust | conv3 k7\n"
               "             ^^^^^");
  EXPECT_EQ(e.code(), ExitCode::usage);
}

TEST(ErrorAt, SecondLineAndEndOfText) {
  const Error e = error_at("a |\nb |", {7, 7}, "a stage is missing after '|'", "edges.pipe");
  EXPECT_STREQ(e.what(),
               "edges.pipe:2:4: a stage is missing after '|'\n"
               "  b |\n"
               "     ^");
}

TEST(ErrorAt, CountsCodePointsAndHidesTabs) {
  const Error e = error_at("\t\xC3\xA9\xC3\xA9 x", {6, 7}, "bad");
  EXPECT_STREQ(e.what(),
               "pipeline:1:5: bad\n"
               "   \xC3\xA9\xC3\xA9 x\n"
               "      ^");
}

TEST(ErrorAt, ShowsPartOfALongLine) {
  const std::string before(500, 'x'), after(500, 'y');
  const Error e = error_at(before + "é!" + after, {500, 503}, "bad");
  EXPECT_EQ(std::string(e.what()), "pipeline:1:501: bad\n  …" + std::string(60, 'x') + "é!" +
                                       std::string(98, 'y') + "…\n  " + std::string(61, ' ') +
                                       "^^");
  const Error whole = error_at(before + after, {0, 1000}, "bad");
  EXPECT_EQ(std::string(whole.what()),
            "pipeline:1:1: bad\n  " + std::string(100, 'x') + "…\n  " + std::string(100, '^'));
}

}  // namespace
}  // namespace impipe
