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

}  // namespace
}  // namespace impipe
