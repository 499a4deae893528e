// Lists of frames and the numbers in names.
#include "core/frame_list.hpp"

#include <gtest/gtest.h>

#include "core/text.hpp"

namespace impipe {
namespace {

std::string shown(const std::optional<FrameList>& list) {
  if (!list) return "none";
  std::string out;
  for (const std::int64_t frame : list->frames) {
    out += (out.empty() ? "" : " ") + std::to_string(frame);
  }
  return out;
}

TEST(FrameList, Texts) {
  struct Row {
    const char* text;
    const char* expected;
  };
  const Row rows[] = {
      {"7", "7"},
      {"1-5", "1 2 3 4 5"},
      {"1-10x3,120", "1 4 7 10 120"},
      {"1-10:3", "1 4 7 10"},
      {"1-10y3,20", "2 3 5 6 8 9 20"},
      {"1-9y1", "none"},
      {"5-5", "5"},
      {"0003,0001", "3 1"},
      {"-2-1", "-2 -1 0 1"},
      {"-5--3", "-5 -4 -3"},
      {"1-3,2-4", "1 2 3 2 3 4"},
      {"", "none"},
      {",", "none"},
      {"1,", "none"},
      {",1", "none"},
      {"1-", "none"},
      {"-", "none"},
      {"5-1", "none"},
      {"1-9x0", "none"},
      {"1-9x-1", "none"},
      {"1-9x", "none"},
      {"1 - 9", "none"},
      {"1-9,a", "none"},
      {"+1", "none"},
      {"1.5", "none"},
      {"1-2000000", "none"},
      {"1-600000,1-600000", "none"},
      {"9999999999999", "none"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(shown(parse_frame_list(row.text)), row.expected) << row.text;
  const auto count = [](const char* text) {
    const auto list = parse_frame_list(text);
    return list ? list->frames.size() : 0;
  };
  EXPECT_EQ(count("1-1000000"), 1'000'000u);
  EXPECT_EQ(count("1-999999999999x1000001"), 999'999u);
  EXPECT_EQ(count("1-999999999999x1000000"), 1'000'000u);
  EXPECT_EQ(count("1-999999999999x999999"), 0u);  // a million and one
}

TEST(FrameList, TextsOfNumbers) {
  EXPECT_EQ(frame_list_text(std::vector<std::int64_t>{}), "");
  EXPECT_EQ(frame_list_text(std::vector<std::int64_t>{3}), "3");
  EXPECT_EQ(frame_list_text(std::vector<std::int64_t>{-2, -1, 0, 3, 7, 8}), "-2-0, 3, 7-8");
}

TEST(FrameList, NumbersOfFiles) {
  struct Row {
    const char* file;
    std::optional<std::int64_t> number;
  };
  const Row rows[] = {
      {"shot2.0012.exr", 12}, {"a/b.7.png", 7},        {"12/x.png", {}},
      {"plain.png", {}},      {"0001.png", 1},         {"in.-0003.exr", -3},
      {"-4.png", -4},         {"shot-10.png", 10},     {"frame0007_beauty.png", 7},
      {"take 3", 3},          {"x.jp2", {}},           {"99999999999999999999999.png", {}},
      {"a.0010.tar.gz", 10},  {"\xff\xfe-12.png", 12},
  };
  for (const Row& row : rows) EXPECT_EQ(frame_number(row.file), row.number) << row.file;
}

}  // namespace
}  // namespace impipe
