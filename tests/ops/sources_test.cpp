// Sources: their values from their definitions, sizes, classes and repeatability.
#include <gtest/gtest.h>

#include <cmath>

#include "pipeline/binder.hpp"
#include "pipeline/parser.hpp"
#include "support/pipeline_runner.hpp"
#include "support/reference/filter.hpp"
#include "support/test_image.hpp"

namespace impipe {
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
