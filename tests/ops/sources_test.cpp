// Sources: their values from their definitions, sizes, classes and repeatability.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "pipeline/binder.hpp"
#include "pipeline/parser.hpp"
#include "support/pipeline_runner.hpp"
#include "support/reference/filter.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace bodies {
extern const PointBody gaussian_noise;
}
namespace {

using reference::Image;
using test::run;

Image made(const char* text) { return reference::from_host(run(text).image); }

TEST(Sources, TypesAndSizes) {
  struct Row {
    const char* text;
    const char* type;
  };
  const Row rows[] = {
      {"phantom", "single x1, white 1, 256x256"},
      {"phantom 7 class=uint16", "uint16 x1, white 65535, 7x7"},
      {"checkerboard 4,6", "uint8 x1, white 255, 6x4"},
      {"gradient n5 vertical class=single", "single x1, white 1, 5x5"},
      {"noise 2 3 c3", "uint8 x3, white 255, 3x2"},
      {"constant 0.5 size=3", "uint8 x1, white 255, 3x3"},
      {"constant 1,0.5,0 size=3,4", "uint8 x3, white 255, 4x3"},
      {"fspecial gaussian size=5,7 sigma=1.3", "single x1, no white, 7x5"},
      {"fspecial disk r4", "single x1, no white, 9x9"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(test::describe(run(row.text).image), row.type) << row.text;
    // And the same without making it.
    const MadeImage told = pipeline::bind(pipeline::parse(row.text)).describe_source();
    EXPECT_EQ(to_string(told.type) + ", " + to_string(told.size), row.type) << row.text;
  }
}

TEST(Sources, Values) {
  EXPECT_EQ(made("checkerboard 3,5 side=2").values,
            (std::vector<double>{0, 0, 255, 255, 0, 0, 0, 255, 255, 0, 255, 255, 0, 0, 255}));
  EXPECT_EQ(made("gradient 1,6").values, (std::vector<double>{0, 51, 102, 153, 204, 255}));
  EXPECT_EQ(made("gradient 3 diagonal class=single").values,
            (std::vector<double>{0, 0.25, 0.5, 0.25, 0.5, 0.75, 0.5, 0.75, 1}));
  EXPECT_EQ(made("gradient 1,1").values, std::vector<double>{0});
  EXPECT_EQ(made("constant 0.1,0.5,1 size=1").values, (std::vector<double>{26, 128, 255}));
  EXPECT_EQ(made("constant -3 size=1 class=single").values, std::vector<double>{-3});
}

// Toft's table: the skull is 1, the brain 0.2, the ventricles 0, the tumours 0.3.
TEST(Phantom, HasTheHeadsValues) {
  const Image p = made("phantom 201");
  const auto at = [&](double x, double y) {
    return p.at(static_cast<int>(std::lround(100 - 100 * y)),
                static_cast<int>(std::lround(100 + 100 * x)));
  };
  EXPECT_EQ(at(-0.99, 0.99), 0);
  EXPECT_FLOAT_EQ(static_cast<float>(at(0, 0.9)), 1);
  EXPECT_FLOAT_EQ(static_cast<float>(at(0, -0.8)), 0.2f);
  EXPECT_NEAR(at(0.22, 0), 0, 1e-7);
  EXPECT_NEAR(at(-0.22, 0), 0, 1e-7);
  EXPECT_FLOAT_EQ(static_cast<float>(at(0, 0.5)), 0.3f);
  EXPECT_FLOAT_EQ(static_cast<float>(at(0, -0.1)), 0.3f);
}

TEST(Noise, IsAFunctionOfItsSeed) {
  const HostImage a = run("noise 64 seed=3").image;
  EXPECT_EQ(test::difference(a, run("noise 64 seed=3").image), "");
  EXPECT_NE(test::difference(a, run("noise 64 seed=4").image), "");
}

// Mean and deviation within five standard errors.
TEST(Noise, HasItsDistribution) {
  constexpr double n = 512.0 * 512.0;
  const Image uniform = made("noise 512 class=single");
  EXPECT_NEAR(reference::mean2(uniform, -1), 0.5, 5 * std::sqrt(1 / 12.0 / n));
  EXPECT_NEAR(reference::std2(uniform, -1), std::sqrt(1 / 12.0), 5 * std::sqrt(1 / 12.0 / n));
  const std::vector<double> h = reference::imhist(made("noise 512"), 0, 16);
  for (size_t i = 1; i < 15; ++i) EXPECT_NEAR(h[i] / n, 1 / 15.0, 5 * std::sqrt(1 / 15.0 / n));
  const Image gaussian = made("noise 512 gaussian class=single");
  EXPECT_NEAR(reference::mean2(gaussian, -1), 0.5, 5 * 0.15 / std::sqrt(n));
  EXPECT_NEAR(reference::std2(gaussian, -1), 0.15, 5 * 0.15 / std::sqrt(2 * n));
}

// Algorithm AS 241 as it is written, with its branches: the quantile of u.
double wichuras_quantile(double u) {
  constexpr double a[] = {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
                          45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
                          133.14166789178437745, 3.387132872796366608};
  constexpr double b[] = {
      5226.495278852854561,  28729.085735721942674, 39307.89580009271061,  21213.794301586595867,
      5394.1960214247511077, 687.1870074920579083,  42.313330701600911252, 1};
  constexpr double c[] = {7.7454501427834140764e-4, 0.0227238449892691845833,
                          0.24178072517745061177,   1.27045825245236838258,
                          3.64784832476320460504,   5.7694972214606914055,
                          4.6303378461565452959,    1.42343711074968357734};
  constexpr double d[] = {1.05075007164441684324e-9, 5.475938084995344946e-4,
                          0.0151986665636164571966,  0.14810397642748007459,
                          0.68976733498510000455,    1.6763848301838038494,
                          2.05319162663775882187,    1};
  const auto polynomial = [](const double(&k)[8], double x) {
    double sum = k[0];
    for (int i = 1; i < 8; ++i) sum = sum * x + k[i];
    return sum;
  };
  const double q = u - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  int exponent = 0;
  double m = std::frexp(q < 0 ? u : 1 - u, &exponent);
  if (m < 0.7071067811865476) {
    m *= 2;
    exponent -= 1;
  }
  const double f = (m - 1) / (m + 1), s = f * f;
  double p = 1.0 / 23;
  for (int k = 21; k >= 1; k -= 2) p = p * s + 1.0 / k;
  const double t = std::sqrt(-(exponent * 0.6931471805599453 + 2 * f * p)) - 1.6;
  const double size = polynomial(c, t) / polynomial(d, t);
  return q < 0 ? -size : size;
}

// Philox4x32-10's first word, of the counter (column, row, 0, 0) and the key (seed, 0).
std::uint32_t philox(std::uint32_t column, std::uint32_t row, std::uint32_t seed) {
  std::uint32_t c[] = {column, row, 0, 0}, key[] = {seed, 0};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t even = 0xD2511F53ull * c[0], odd = 0xCD9E8D57ull * c[2];
    c[0] = static_cast<std::uint32_t>(odd >> 32) ^ c[1] ^ key[0];
    c[1] = static_cast<std::uint32_t>(odd);
    c[2] = static_cast<std::uint32_t>(even >> 32) ^ c[3] ^ key[1];
    c[3] = static_cast<std::uint32_t>(even);
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return c[0];
}

// Of a million places, so that there are tails; for every instruction set.
TEST(Imnoise, AddsWichurasQuantiles) {
  constexpr int width = 1000, rows = 1000;
  constexpr double seed = 4294967295.0, deviation = 0.25;
  std::vector<double> x(width), column(width), row(width), expected(width), result(width);
  const double arguments[] = {seed, 0, 0, 0, 255, 0.03, deviation};
  for (int y = 0; y < rows; ++y) {
    for (int i = 0; i < width; ++i) {
      const auto at = static_cast<std::size_t>(i);
      x[at] = (i + y) % 256;
      column[at] = i;
      row[at] = y;
      const double u =
          (philox(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(y), 4294967295u) +
           0.5) /
          4294967296.0;
      const double v = x[at] / 255 + 0.03 + deviation * wichuras_quantile(u);
      expected[at] = std::clamp(v, 0.0, 1.0) * 255;
    }
    const double* in[] = {x.data(), column.data(), row.data()};
    for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::v3, CpuLevel::v4}) {
      if (!test::has_level(level)) continue;
      bodies::gaussian_noise.rows_double[static_cast<int>(level)](result.data(), in, width,
                                                                  arguments);
      ASSERT_EQ(result, expected) << "row " << y << ", level " << static_cast<int>(level);
    }
  }
}

// MATLAB's order: the first number belongs to the kind.
TEST(Imnoise, TakesTheNumberOfItsKind) {
  const HostImage image = test::test_image(PixelClass::uint8, 1, {31, 17}, 5);
  const auto same = [&](const char* a, const char* b) {
    EXPECT_EQ(test::difference(test::run(a, image).image, test::run(b, image).image), "") << a;
  };
  same("imnoise salt 0.3", "imnoise salt density=0.3");
  same("imnoise speckle 0.3", "imnoise speckle variance=0.3");
  same("imnoise gaussian 0.1 0.2", "imnoise gaussian mean=0.1 variance=0.2");
  for (const char* wrong : {"imnoise salt 1.5", "imnoise salt mean=0.3", "imnoise poisson 0.1"}) {
    EXPECT_THROW(test::run(wrong, image), Error) << wrong;
  }
}

// As MATLAB reads it: a side, then sigma; a list is rows and columns.
TEST(Fspecial, TakesASideAndSigma) {
  const HostImage expected = test::run("fspecial gaussian size=5,5 sigma=1").image;
  EXPECT_EQ(test::difference(expected, test::run("fspecial gaussian 5 1").image), "");
  EXPECT_EQ(test::run("fspecial gaussian 5,1").image.size(), (Size{1, 5}));
  // A side is whole: the second number is sigma.
  EXPECT_EQ(test::difference(test::run("fspecial gaussian size=5 sigma=1.5").image,
                             test::run("fspecial gaussian 5 1.5").image),
            "");
  EXPECT_EQ(test::run("fspecial average 3 5").image.size(), (Size{5, 3}));
}

}  // namespace
}  // namespace impipe
