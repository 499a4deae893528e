// Numbers and names as every parser reads them, and the nearest of several names.
#include "core/text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace impipe {
namespace {

TEST(Text, Numbers) {
  for (const char* number : {"0", "12", "1.", ".5", "1.5", "1e3", "1E+3", "1.e-3", "-2", "+.5"}) {
    EXPECT_TRUE(is_number(number)) << number;
  }
  for (const char* other :
       {"", ".", "-", "e3", ".e3", "1e", "1e+", "--1", "inf", "nan", "0x1", "1 ", " 1", "1,5"}) {
    EXPECT_FALSE(is_number(other)) << other;
  }
  EXPECT_EQ(number_length("1e+x"), 1u);
  EXPECT_EQ(number_length("12.5abc"), 4u);
  EXPECT_EQ(number_value("+1.5e1"), 15.0);
  EXPECT_EQ(number_value("1e999"), std::nullopt);
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(-3), "-3");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(Text, Nearest) {
  const std::vector<std::string> names = {"imadjust", "imdilate", "imerode", "edge",
                                          "conv2",    "mean2",    "min",     "max"};
  const struct {
    const char* typed;
    const char* meant;
  } table[] = {
      {"imadjsut", "imadjust"},  // a swap
      {"imadjus", "imadjust"},   // a missing letter
      {"imadjustt", "imadjust"},
      {"IMADJUST", "imadjust"},
      {"imdialte", "imdilate"},
      {"conv3", "conv2"},
      {"men2", "mean2"},
      {"mix", "min"},
      {"egde", "edge"},
      {"wiener", ""},
      {"x", ""},
      {"", ""},
  };
  for (const auto& row : table) EXPECT_EQ(nearest(row.typed, names), row.meant) << row.typed;
  EXPECT_EQ(did_you_mean("egde", names), "; did you mean 'edge'?");
  EXPECT_EQ(did_you_mean("wiener", names), "");
  EXPECT_EQ(nearest(std::string(1'000'000, 'x'), names), "");
}

TEST(Text, Utf8) {
  EXPECT_EQ(invalid_utf8("aé€😀"), std::nullopt);
  EXPECT_EQ(invalid_utf8("a\xC3"), 1u);
  EXPECT_EQ(invalid_utf8("\xE0\x80\x80"), 0u);
  EXPECT_EQ(invalid_utf8("ab\xF4\x90\x80\x80"), 2u);
}

}  // namespace
}  // namespace impipe
