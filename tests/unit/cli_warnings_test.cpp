// Warnings of many files have one line.
#include <gtest/gtest.h>

#include "cli/run_reporter.hpp"
#include "cli/warning_kinds.hpp"

namespace impipe::cli {
namespace {

TEST(Warnings, AreOfOneKindWhateverTheirNumbersAndNames) {
  struct Row {
    const char *warning, *kind;
  };
  const Row rows[] = {
      {"EXIF", "EXIF"},
      {"2 cards of the FITS header", "… cards of the FITS header"},
      {"the lowest 4 of 16 bits", "the lowest … of … bits"},
      {"channels (Z, id)", "channels (…)"},
      {"channels (a (b), 'c')", "channels (…)"},
      {"APP12 'Ducky'", "APP12 '…'"},
      {"text 'It's (5'", "text '…'"},
      {"ImageJ's labels and overlays", "ImageJ's labels and overlays"},
      {"TIFF tags 700, 65000, 65001", "TIFF tags …"},
      {"-1.5e3 becomes -1500", "… becomes …"},
  };
  for (const Row& row : rows) EXPECT_EQ(kind_of(row.warning), row.kind) << row.warning;
}

TEST(Warnings, AreToldOnceAndCounted) {
  RunReporter reporter({.progress = ProgressMode::none});
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    engine::FileReport report;
    report.index = i;
    report.input = std::string(1, static_cast<char>('a' + i)) + ".png";
    report.lost = {"EXIF", "text '" + std::to_string(i) + "'"};
    if (i == 1) report.lost.emplace_back("XMP");
    report.notes = {std::to_string(i + 1) + " values are odd"};
    EXPECT_TRUE(reporter.file(report));
  }
  reporter.tell_counts();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "impipe: a.png: the result is without EXIF, text '0'\n"
            "impipe: a.png: 1 values are odd\n"
            "impipe: b.png: the result is without XMP\n"
            "impipe: 3 files: … values are odd (-v names each)\n"
            "impipe: 3 files: the result is without EXIF, text '…' (-v names each)\n");
  const std::map<std::string, std::int64_t> expected = {{"the result is without EXIF", 3},
                                                        {"the result is without text '…'", 3},
                                                        {"the result is without XMP", 1},
                                                        {"… values are odd", 3}};
  EXPECT_EQ(reporter.warnings(), expected);
}

TEST(Warnings, OfOneFileAreAllTold) {
  RunReporter reporter({.progress = ProgressMode::none});
  testing::internal::CaptureStderr();
  engine::FileReport report;
  report.input = "a.gif";
  report.lost = {"an extension of kind 114", "an extension of kind 115"};
  EXPECT_TRUE(reporter.file(report));
  reporter.tell_counts();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "impipe: a.gif: the result is without an extension of kind 114, an extension of kind "
            "115\n");
}

TEST(Warnings, OfTheFramesOfOneFileAreOfOneFile) {
  WarningKinds kinds;
  EXPECT_TRUE(kinds.add("5 values", 7));
  EXPECT_FALSE(kinds.add("6 values", 7));
  EXPECT_EQ(kinds.files().at("… values"), 1);
}

}  // namespace
}  // namespace impipe::cli
