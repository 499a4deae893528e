// The suite `colour`: pairs of rows, and what it says of measured ones.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "bench/colour_rows.hpp"

namespace impipe::bench {
namespace {

BenchRow row(const char* pipeline, int channels, double us, PixelClass cls = PixelClass::uint8) {
  BenchRow out{.what = {.name = std::string(pipeline) + (channels == 3 ? " of colour" : ""),
                        .pipeline = pipeline,
                        .cls = cls,
                        .channels = channels},
               .result = {},
               .error = {}};
  out.result.device = 1e-6 * us;
  return out;
}

TEST(ColourSuite, SetsEveryColourBesideThreeImages) {
  std::set<std::tuple<std::string, PixelClass, int>> stacks, colours;
  for (const SuiteRow& row : colour_rows()) {
    if (row.channels == 1) {
      EXPECT_EQ(row.stack, 3) << row.name;
      stacks.insert({row.pipeline, row.cls, row.size});
    } else {
      EXPECT_EQ(row.channels, 3) << row.name;
      EXPECT_EQ(row.stack, 1) << row.name;
      colours.insert({row.pipeline, row.cls, row.size});
    }
  }
  EXPECT_GT(stacks.size(), 100u);
  EXPECT_EQ(stacks, colours);
}

TEST(ColourSuite, SaysWhereColourCostsMoreTheWorstFirst) {
  const std::vector<std::string> lines =
      colour_findings({row("a", 1, 100), row("a", 3, 114), row("b", 1, 100), row("b", 3, 120),
                       row("c", 1, 10), row("c", 3, 20), row("c", 1, 10, PixelClass::single)});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "c of colour uint8: 20.0 us, 3 images 10.0 us, 2.00 where 1.15 is allowed");
  EXPECT_EQ(lines[1], "b of colour uint8: 120.0 us, 3 images 100.0 us, 1.20 where 1.15 is allowed");
}

TEST(ColourSuite, LeavesOutWhatADeviceCannotDo) {
  BenchRow failed = row("a", 3, 0);
  failed.error = "no memory";
  EXPECT_TRUE(colour_findings({row("a", 1, 100), failed}).empty());
}

}  // namespace
}  // namespace impipe::bench
