// Sums of 16-bit codes in whole numbers against the bodies in double, and which bodies take them.
#include <gtest/gtest.h>

#include <random>

#include "backends/cpu/point/word_sum.hpp"
#include "backends/cpu/simd/level.hpp"
#include "backends/cpu/tile/rows.hpp"

namespace impipe::bodies {
extern const PointBody rgb2gray, imlincomb_2, imlincomb_3, imlincomb_4, weighted_channels;
}

namespace impipe::testing {
namespace {

using cpu::run_word_sum;
using cpu::word_sum;
using cpu::WordSum;
using Words = std::vector<std::uint16_t>;

std::optional<WordSum> sum_of(const PointBody& body, const std::vector<double>& args,
                              CpuLevel level) {
  const std::vector<PixelClass> from(static_cast<std::size_t>(body.inputs), PixelClass::uint16);
  return word_sum(body, from, PixelClass::uint16, args, level);
}

// The instruction sets that have a kernel of their own.
class CpuWordSum : public ::testing::TestWithParam<CpuLevel> {
 protected:
  void SetUp() override {
    if (!cpu::has_level(GetParam())) GTEST_SKIP();
  }

  static void expect_same(const PointBody& body, const std::vector<double>& args,
                          const std::vector<Words>& planes) {
    const auto sum = sum_of(body, args, GetParam());
    ASSERT_TRUE(sum) << body.name << " " << ::testing::PrintToString(args);
    const auto n = static_cast<std::int64_t>(planes[0].size());
    const std::byte* rows[WordSum::max_inputs] = {};
    std::vector<std::vector<double>> numbers;
    std::vector<const double*> number_rows;
    for (std::size_t c = 0; c < planes.size(); ++c) {
      rows[c] = reinterpret_cast<const std::byte*>(planes[c].data());
      numbers.emplace_back(planes[c].begin(), planes[c].end());
      number_rows.push_back(numbers.back().data());
    }
    constexpr std::uint16_t guard = 0xabcd;
    Words out(planes[0].size() + 1, guard), expected(planes[0].size());
    run_word_sum(reinterpret_cast<std::byte*>(out.data()), rows, n, *sum, body, args, GetParam());
    std::vector<double> result(planes[0].size());
    body.rows_double[0](result.data(), number_rows.data(), n, args.data());
    cpu::store_row(reinterpret_cast<std::byte*>(expected.data()), result.data(), PixelClass::uint16,
                   n, CpuLevel::baseline);
    EXPECT_EQ(out.back(), guard);
    out.pop_back();
    EXPECT_TRUE(out == expected) << body.name << " " << ::testing::PrintToString(args) << ", " << n
                                 << " pixels";
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, CpuWordSum, ::testing::Values(CpuLevel::v3, CpuLevel::v4),
                         [](const auto& of) { return std::string(cpu::name_of(of.param)); });

struct Case {
  const PointBody& body;
  std::vector<double> args;
};
const std::vector<Case>& cases() {
  using namespace bodies;
  static const std::vector<Case> all{
      {imlincomb_2, {0.5, 0.5, 3}},
      {imlincomb_2, {0.5, 0.5, 0}},
      {imlincomb_2, {1, -1, 0}},
      {imlincomb_2, {-1, 1, 32768}},
      {imlincomb_2, {0.75, -2.5, 1234.5}},
      {imlincomb_2, {-0.25, -0.5, 60000.25}},
      {imlincomb_2, {0.123, 0.771, 0.4}},
      {imlincomb_2, {1.618033, -0.577215, 100}},
      {imlincomb_2, {-3.14159, 2.71828, 30000}},
      {imlincomb_3, {0.25, 0.5, 0.25, 0}},
      {imlincomb_3, {0.333, 0.333, 0.334001, -7.77}},
      {imlincomb_3, {1.5, -0.37, 0.0001, 0.499}},
      {weighted_channels, {0.256788, 0.504129, 0.0979059, 4112}},
      {weighted_channels, {-0.148223, -0.290993, 0.439216, 32896}},
      {rgb2gray, {65535}},
  };
  return all;
}

TEST_P(CpuWordSum, CodesAreThoseOfTheBody) {
  std::mt19937 random(97);
  for (const Case& of : cases()) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{33},
                                std::size_t{4127}, std::size_t{400000}}) {
      std::vector<Words> planes(static_cast<std::size_t>(of.body.inputs), Words(n));
      for (Words& plane : planes) {
        for (std::uint16_t& code : plane) code = static_cast<std::uint16_t>(random());
      }
      expect_same(of.body, of.args, planes);
    }
  }
}

TEST_P(CpuWordSum, EndsOfTheCodesAreThoseOfTheBody) {
  const std::uint16_t ends[] = {0, 1, 2, 32767, 32768, 32769, 65533, 65534, 65535};
  for (const Case& of : cases()) {
    std::vector<Words> planes(static_cast<std::size_t>(of.body.inputs));
    for (std::size_t k = 0; k < 9 * 9 * 9; ++k) {
      std::size_t rest = k;
      for (Words& plane : planes) {
        plane.push_back(ends[rest % 9]);
        rest /= 9;
      }
    }
    expect_same(of.body, of.args, planes);
  }
}

// One value in all pixels: each block is left to the body, or none.
TEST_P(CpuWordSum, FlatImagesAreThoseOfTheBody) {
  for (const int value : {0, 1, 499, 500, 32768, 65535}) {
    const Words flat(1000, static_cast<std::uint16_t>(value));
    expect_same(bodies::imlincomb_2, {0.123, 0.771, 0.4}, {flat, flat});
    expect_same(bodies::rgb2gray, {65535}, {flat, flat, flat});
  }
}

TEST_P(CpuWordSum, ExactWeightsLeaveNothingToTheBody) {
  EXPECT_EQ(sum_of(bodies::imlincomb_2, {0.5, 0.5, 3}, GetParam()).value().near, 0);
  EXPECT_EQ(sum_of(bodies::imlincomb_2, {0.75, -2.5, 1234.5}, GetParam()).value().near, 0);
  EXPECT_NE(sum_of(bodies::imlincomb_2, {0.5, 0.5, 0.1}, GetParam()).value().near, 0);
  EXPECT_NE(sum_of(bodies::imlincomb_2, {0.61803, 0.41421, 0}, GetParam()).value().near, 0);
}

TEST_P(CpuWordSum, OthersAreLeftToTheBody) {
  const CpuLevel level = GetParam();
  EXPECT_FALSE(sum_of(bodies::imlincomb_2, {0.3, 0.7, 0}, level));  // a tie in ten
  EXPECT_FALSE(sum_of(bodies::imlincomb_2, {0.61, 0.38, 0}, level));
  EXPECT_FALSE(sum_of(bodies::imlincomb_2, {40, -1, 0}, level));
  EXPECT_FALSE(sum_of(bodies::imlincomb_2, {0.5, 0.5, 1e9}, level));
  EXPECT_FALSE(sum_of(bodies::imlincomb_4, {0.25, 0.25, 0.25, 0.25, 0}, level));
  EXPECT_FALSE(sum_of(bodies::imlincomb_2, {0.5, 0.5, 3}, CpuLevel::baseline));
  const PixelClass mixed[] = {PixelClass::uint16, PixelClass::uint8};
  EXPECT_FALSE(word_sum(bodies::imlincomb_2, mixed, PixelClass::uint16, {0.5, 0.5, 3}, level));
}

}  // namespace
}  // namespace impipe::testing
