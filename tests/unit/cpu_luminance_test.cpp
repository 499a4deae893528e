// The kernel of means against the body of rgb2gray, and which bodies take it: equal bits for all
// bytes, and for words near ties.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "backends/cpu/point/luminance.hpp"
#include "backends/cpu/simd/level.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "core/interleave.hpp"
#include "support/spec_case.hpp"

namespace impipe::bodies {
extern const PointBody rgb2gray, imlincomb_2, imlincomb_3;
}

namespace impipe::testing {
namespace {

using cpu::mean_weights;
using cpu::run_means;

// Of a body of three planes of one class.
std::optional<cpu::MeanWeights> weights_of(const PointBody& body, PixelClass from, PixelClass to,
                                           const std::vector<double>& args, CpuLevel level) {
  return mean_weights(body, std::vector<PixelClass>(3, from), to, args, level);
}

// The instruction sets that have a kernel of their own.
class CpuLuminance : public ::testing::TestWithParam<CpuLevel> {
 protected:
  void SetUp() override {
    if (!cpu::has_level(GetParam())) GTEST_SKIP();
    const PixelClass cls = PixelClass::uint8;
    ASSERT_TRUE(weights_of(bodies::rgb2gray, cls, cls, {class_max(cls)}, GetParam()));
  }

  template <class T>
  static std::vector<T> by_kernel(const std::vector<T>& pixels, PixelClass cls) {
    return by_kernel(pixels, cls, bodies::rgb2gray, {class_max(cls)});
  }
  template <class T>
  static std::vector<T> by_kernel(const std::vector<T>& pixels, PixelClass cls,
                                  const PointBody& body, const std::vector<double>& args) {
    return by_kernels(pixels, cls, body, {args})[0];
  }
  // One result for each list of arguments.
  template <class T>
  static std::vector<std::vector<T>> by_kernels(const std::vector<T>& pixels, PixelClass cls,
                                                const PointBody& body,
                                                const std::vector<std::vector<double>>& args) {
    const auto n = static_cast<std::int64_t>(pixels.size() / 3);
    std::vector<T> channels[3];
    std::byte* split[3];
    const std::byte* rows[3];
    for (int c = 0; c < 3; ++c) {
      channels[c].resize(static_cast<std::size_t>(n));
      rows[c] = split[c] = reinterpret_cast<std::byte*>(channels[c].data());
    }
    split_row(split, reinterpret_cast<const std::byte*>(pixels.data()), 3, sizeof(T), n);
    std::vector<std::vector<T>> out(args.size(), std::vector<T>(static_cast<std::size_t>(n)));
    std::vector<cpu::MeanWeights> weights;
    for (const auto& each : args) {
      weights.push_back(weights_of(body, cls, cls, each, GetParam()).value());
    }
    std::vector<cpu::MeanBody> means;
    std::vector<std::byte*> outs;
    for (std::size_t k = 0; k < args.size(); ++k) {
      means.push_back({&body, &weights[k], &args[k]});
      outs.push_back(reinterpret_cast<std::byte*>(out[k].data()));
    }
    run_means(outs, rows, n, means, GetParam());
    return out;
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, CpuLuminance, ::testing::Values(CpuLevel::v3, CpuLevel::v4),
                         [](const auto& of) { return std::string(cpu::name_of(of.param)); });

// The body over the pixels, in double, stored as the class.
template <class T>
std::vector<T> by_body(const std::vector<T>& pixels, PixelClass cls, const PointBody& body,
                       const std::vector<double>& args) {
  const auto n = static_cast<std::int64_t>(pixels.size() / 3);
  std::vector<double> channels[3], result(n);
  for (int c = 0; c < 3; ++c) {
    for (std::int64_t i = 0; i < n; ++i) {
      channels[c].push_back(static_cast<double>(pixels[3 * i + c]));
    }
  }
  const double* rows[] = {channels[0].data(), channels[1].data(), channels[2].data()};
  std::vector<T> out(n);
  body.rows_double[0](result.data(), rows, n, args.data());
  cpu::store_row(reinterpret_cast<std::byte*>(out.data()), result.data(), cls, n,
                 CpuLevel::baseline);
  return out;
}

template <class T>
std::vector<T> by_body(const std::vector<T>& pixels, PixelClass cls) {
  return by_body(pixels, cls, bodies::rgb2gray, {class_max(cls)});
}

TEST_P(CpuLuminance, AllTriplesOfBytes) {
  for (int r = 0; r < 256; ++r) {
    std::vector<std::uint8_t> pixels;
    for (int g = 0; g < 256; ++g) {
      for (int b = 0; b < 256; ++b) {
        for (const int v : {r, g, b}) pixels.push_back(static_cast<std::uint8_t>(v));
      }
    }
    ASSERT_EQ(by_kernel(pixels, PixelClass::uint8), by_body(pixels, PixelClass::uint8))
        << "red " << r;
  }
}

// Differences of colour, and sums that are ties for many pixels.
TEST_P(CpuLuminance, SumsOfEitherSign) {
  const std::array<double, 4> sums[] = {{0.2567882, 0.5041294, 0.0979059, 16},
                                        {-0.1482229, -0.2909928, 0.4392157, 128},
                                        {0.4392157, -0.3677883, -0.0714274, 128},
                                        {-0.25, -0.125, 0.5, 100},
                                        {-0.00001, 0.5, 0.25, 0.5}};
  std::mt19937 random(5);
  for (const std::array<double, 4>& sum : sums) {
    const std::vector<double> args(sum.begin(), sum.end());
    std::vector<std::uint8_t> bytes;
    for (int k = 0; k < 3 * 200000; ++k) bytes.push_back(static_cast<std::uint8_t>(random()));
    const PointBody& body = bodies::imlincomb_3;
    ASSERT_EQ(by_kernel(bytes, PixelClass::uint8, body, args),
              by_body(bytes, PixelClass::uint8, body, args));
  }
}

// Up to five sums of the same planes, the third one of ties nearly everywhere.
TEST_P(CpuLuminance, SeveralSumsOfTheSamePlanes) {
  const std::vector<std::vector<double>> sums = {{0.2567882, 0.5041294, 0.0979059, 16},
                                                 {-0.1482229, -0.2909928, 0.4392157, 128},
                                                 {0.25, 0.5, 0.25, 0},
                                                 {0.4392157, -0.3677883, -0.0714274, 128},
                                                 {0, 0, 1, 0}};
  std::mt19937 random(6);
  const PointBody& body = bodies::imlincomb_3;
  for (const int n : {1, 63, 64, 200, 9000}) {
    std::vector<std::uint8_t> bytes;
    for (int k = 0; k < 3 * n; ++k) bytes.push_back(static_cast<std::uint8_t>(random()));
    for (std::size_t count = 1; count <= sums.size(); ++count) {
      const std::vector<std::vector<double>> first(sums.begin(),
                                                   sums.begin() + static_cast<int>(count));
      const auto of_bytes = by_kernels(bytes, PixelClass::uint8, body, first);
      for (std::size_t k = 0; k < count; ++k) {
        ASSERT_EQ(of_bytes[k], by_body(bytes, PixelClass::uint8, body, first[k])) << n << " " << k;
      }
    }
  }
}

// In a kernel of several results, one of them of the planes in another order.
TEST_P(CpuLuminance, PointsOfAKernel) {
  std::mt19937 random(7);
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16}) {
    SpecBuilder b;
    const Operand red = b.input(cls, 1), green = b.input(cls, 1), blue = b.input(cls, 1);
    const auto sum = [&](const std::vector<Operand>& planes, const std::vector<double>& args) {
      return b.add(Point{.body = &bodies::imlincomb_3}, planes, args, cls, 1);
    };
    const double white = class_max(cls);
    const Operand luma = sum({red, green, blue}, {0.257, 0.504, 0.098, white / 16});
    const Operand other = sum({blue, green, red}, {0.257, 0.504, 0.098, white / 16});
    const Operand difference_of_blue = sum({red, green, blue}, {-0.148, -0.291, 0.439, white / 2});
    const Operand copy = sum({red, green, blue}, {0, 1, 0, 0});
    const KernelSpec spec = b.finish({luma, other, difference_of_blue, copy});
    for (const Size size : {Size{5, 3}, Size{64, 40}, Size{333, 90}}) {
      std::vector<SpecResult> planes;
      for (int c = 0; c < 3; ++c) planes.push_back(random_image(random, cls, 1, size, false));
      const auto alone = run_unfused(spec, planes, GetParam(), 1);
      const auto together = run_spec(spec, planes, GetParam(), 2);
      for (std::size_t k = 0; k < alone.size(); ++k) {
        EXPECT_EQ(difference(together[k], alone[k]), "") << to_string(size) << " " << k;
      }
    }
  }
}

TEST_P(CpuLuminance, IsOfAnyBodyThatIsSuchAMean) {
  const PixelClass bytes = PixelClass::uint8, words = PixelClass::uint16;
  const auto weights = [&](const std::vector<double>& args) {
    return weights_of(bodies::imlincomb_3, bytes, bytes, args, GetParam());
  };
  EXPECT_EQ(weights({0.25, 0.5, 0.25, 0}), (cpu::MeanWeights{0.25, 0.5, 0.25, 0}));
  EXPECT_TRUE(weights({-0.15, -0.29, 0.44, 128}));
  EXPECT_TRUE(weights({0, 0, 1, 0}));
  EXPECT_FALSE(weights({0.5, 0.5, 0.5, 0}));
  EXPECT_FALSE(weights({0.5, 0.75, -0.25, 0}));
  EXPECT_FALSE(weights({0.25, 0.5, 0.25, 1}));    // up to 256
  EXPECT_FALSE(weights({-0.25, 0.5, 0.25, 63}));  // down to -0.75
  EXPECT_FALSE(weights({1, -1, 0.25, 0}));
  EXPECT_FALSE(weights({-1e9, 1e9, 0.25, 0}));
  EXPECT_FALSE(weights_of(bodies::imlincomb_2, bytes, bytes, {0.5, 0.5, 0}, GetParam()));
  EXPECT_FALSE(weights_of(bodies::rgb2gray, bytes, words, {255}, GetParam()));
  const PixelClass mixed[] = {bytes, words, bytes};
  EXPECT_FALSE(mean_weights(bodies::rgb2gray, mixed, bytes, {255}, GetParam()));
  EXPECT_FALSE(weights_of(bodies::rgb2gray, bytes, bytes, {255}, CpuLevel::baseline));
  // A white that is not the class's largest code is as good.
  EXPECT_TRUE(weights_of(bodies::rgb2gray, bytes, bytes, {200}, GetParam()));
}

TEST_P(CpuLuminance, ShortRows) {
  for (int n = 0; n < 200; ++n) {
    std::vector<std::uint8_t> bytes;
    for (int i = 0; i < 3 * n; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 37));
    EXPECT_EQ(by_kernel(bytes, PixelClass::uint8), by_body(bytes, PixelClass::uint8));
  }
}

}  // namespace
}  // namespace impipe::testing
