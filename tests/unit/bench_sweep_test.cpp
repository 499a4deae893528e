// The suite `sweep`: which rows it has, and what it says of measured ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bench/sweep_rows.hpp"
#include "core/operator.hpp"

namespace impipe::bench {
namespace {

// What a row took, in microseconds; a copy of bytes takes 10.
BenchRow row(SuiteRow what, double us) {
  BenchRow out{.what = std::move(what), .result = {}, .error = {}};
  out.result.device = 1e-6 * us;
  const int bytes = out.what.cls == PixelClass::single   ? 4
                    : out.what.cls == PixelClass::uint16 ? 2
                                                         : 1;
  out.result.baseline_time = 1e-5 * bytes * std::max(1, out.what.channels);
  return out;
}

SuiteRow of_size(int size, PixelClass cls = PixelClass::uint8, int channels = 1) {
  const std::string text = "box size=" + std::to_string(size);
  return {.name = text + (channels == 3 ? " x3" : ""),
          .pipeline = text,
          .cls = cls,
          .series = "box size",
          .x = static_cast<double>(size),
          .channels = channels,
          .content = "natural"};
}

SuiteRow of_content(const char* content) {
  return {.name = std::string("box of ") + content,
          .pipeline = "box",
          .channels = 1,
          .content = content};
}

TEST(Sweep, SaysWhereNeighbouringValuesJump) {
  const std::vector<BenchRow> rows = {row(of_size(7), 50), row(of_size(3), 20),
                                      row(of_size(5), 24)};
  const std::vector<std::string> cliffs = cliffs_in(rows);
  ASSERT_EQ(cliffs.size(), 1u);
  EXPECT_EQ(cliffs[0],
            "jump: box size=5 uint8 24.0 us, box size=7 uint8 50.0 us, 2.08 where 2.00 is allowed");
}

TEST(Sweep, SaysWhereAClassCostsMoreThanItsBytes) {
  EXPECT_EQ(cliffs_in({row(of_size(3), 20), row(of_size(3, PixelClass::uint16), 59),
                       row(of_size(3, PixelClass::single), 119)})
                .size(),
            0u);
  const std::vector<std::string> cliffs =
      cliffs_in({row(of_size(3), 20), row(of_size(3, PixelClass::single), 160)});
  ASSERT_EQ(cliffs.size(), 1u);
  EXPECT_EQ(cliffs[0].rfind("class: box size=3 uint8 20.0 us, box size=3 single 160.0 us, 2.00", 0),
            0u);
}

TEST(Sweep, SaysWhereColourCostsMoreThanThreePlanes) {
  EXPECT_EQ(cliffs_in({row(of_size(3), 20), row(of_size(3, PixelClass::uint8, 3), 68)}).size(), 0u);
  const std::vector<std::string> cliffs =
      cliffs_in({row(of_size(3), 20), row(of_size(3, PixelClass::uint8, 3), 72)});
  ASSERT_EQ(cliffs.size(), 1u);
  EXPECT_EQ(cliffs[0].rfind("colour: box size=3 uint8 20.0 us, box size=3 x3 uint8 72.0 us", 0),
            0u);
}

TEST(Sweep, SaysWhereContentCounts) {
  const std::vector<std::string> cliffs =
      cliffs_in({row(of_content("noise"), 20), row(of_content("constant"), 31),
                 row(of_content("spiral"), 25)});
  ASSERT_EQ(cliffs.size(), 1u);
  EXPECT_EQ(
      cliffs[0].rfind("content: box of noise uint8 20.0 us, box of constant uint8 31.0 us", 0), 0u);
}

TEST(Sweep, SaysWhereSizeCountsBeyondACopy) {
  const auto of_side = [](int side, double us, double copy_us) {
    BenchRow one = row({.name = "box", .pipeline = "box", .size = side, .content = "natural"}, us);
    one.result.baseline_time = 1e-6 * copy_us;
    return one;
  };
  // A copy costs 2.5 times as much a pixel at 2048: so may the operator.
  EXPECT_EQ(cliffs_in({of_side(512, 5, 2), of_side(1024, 21, 3), of_side(2048, 400, 30)}).size(),
            0u);
  const std::vector<std::string> cliffs = cliffs_in({of_side(1024, 45, 3), of_side(512, 5, 2)});
  ASSERT_EQ(cliffs.size(), 1u);
  EXPECT_EQ(
      cliffs[0],
      "size: box uint8 512x512 5.0 us, 1024x1024 45.0 us, 2.25 a pixel where 2.00 is allowed");
}

TEST(Sweep, ListsTheWorstFirstAndNoRowThatFailed) {
  BenchRow failed = row(of_size(4), 1000);
  failed.error = "no memory";
  const std::vector<std::string> cliffs =
      cliffs_in({row(of_size(3), 20), failed, row(of_size(5), 50), row(of_content("noise"), 20),
                 row(of_content("constant"), 200)});
  ASSERT_EQ(cliffs.size(), 2u);
  EXPECT_EQ(cliffs[0].rfind("content", 0), 0u);
  EXPECT_EQ(cliffs[1].rfind("jump", 0), 0u);
}

TEST(Sweep, HasEveryOperatorThatTakesImagesAlone) {
  std::set<std::string> rows;
  std::set<std::string> operators;
  for (const SuiteRow& one : sweep_rows()) {
    const std::string of =
        one.name + "|" + std::string(name_of(one.cls)) + "|" + std::to_string(one.size);
    EXPECT_TRUE(rows.insert(of).second) << of << " is there twice";
    operators.insert(one.pipeline.substr(0, one.pipeline.find(' ')));
  }
  const auto takes_file = [](const Parameter& p) { return p.takes == Takes::file; };
  std::vector<std::string> missing;
  for (const Operator& op : catalogue()) {
    if (op.lower != nullptr && op.reduction == nullptr &&
        std::ranges::none_of(op.parameters, takes_file) &&
        !operators.contains(std::string(op.name))) {
      missing.emplace_back(op.name);
    }
  }
  EXPECT_EQ(missing, (std::vector<std::string>{}));
}

TEST(Sweep, TablesHaveAValueForEachCode) {
  std::map<PixelClass, std::string> tables;
  for (const SuiteRow& one : sweep_rows()) {
    if (!one.pipeline.starts_with("intlut ")) {
      for (const auto& [name, pipeline] : one.images) EXPECT_EQ(name, "") << one.name;
      continue;
    }
    ASSERT_FALSE(one.images.empty()) << one.name;
    EXPECT_EQ(one.pipeline, "intlut lut=:" + one.images.back().first);
    tables[one.cls] = one.images.back().second;
  }
  EXPECT_EQ(tables[PixelClass::uint8], "gradient 1,256");
  EXPECT_EQ(tables[PixelClass::uint16], "gradient 1,65536 | im2uint16");
}

TEST(Sweep, TakesParametersOverTheirRanges) {
  std::set<double> sizes;
  std::set<std::string> classes, elements;
  for (const SuiteRow& one : sweep_rows()) {
    if (one.series == "medfilt2 size") {
      sizes.insert(one.x);
      classes.insert(std::string(name_of(one.cls)));
    }
    if (one.pipeline.rfind("imdilate se=", 0) == 0) elements.insert(one.series);
  }
  EXPECT_TRUE(sizes.contains(3) && sizes.contains(4) && sizes.contains(63));
  EXPECT_EQ(classes, (std::set<std::string>{"logical", "uint8", "uint16", "single"}));
  EXPECT_TRUE(elements.contains("imdilate disk") && elements.contains("imdilate line 45"));
}

}  // namespace
}  // namespace impipe::bench
