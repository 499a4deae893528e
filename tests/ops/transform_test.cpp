// Distance transform, dithering and projections against naive references.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <utility>

#include "core/backprojection.hpp"
#include "support/pipeline_runner.hpp"
#include "support/reference/transform.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

using reference::Image;
using test::run;

// A logical image in which a part of the pixels is set, at least `least` of them.
Image scattered(int rows, int columns, double part, int least, std::uint64_t seed) {
  Image image(PixelClass::logical, 1, rows, columns, 1);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform;
  for (double& v : image.values) v = uniform(random) < part;
  for (int i = 0; i < least; ++i) image.values[random() % image.values.size()] = 1;
  return image;
}

void expect_distances(const Image& image, const std::string& metric) {
  for (const bool index : {false, true}) {
    const std::string text = "bwdist " + metric + (index ? " index" : "");
    EXPECT_EQ(test::difference(reference::bwdist(image, metric, index),
                               run(text, reference::to_host(image)).image),
              "")
        << text << " of " << image.columns << "x" << image.rows;
  }
}

const char* const metrics[] = {"euclidean", "cityblock", "chessboard", "quasi-euclidean"};

TEST(Bwdist, IsBruteForceOnEverySizeAndDensity) {
  const Size sizes[] = {{1, 1},   {1, 40}, {40, 1},  {15, 33}, {16, 16},
                        {17, 31}, {63, 5}, {64, 65}, {7, 129}, {130, 18}};
  std::uint64_t seed = 7;
  for (const char* metric : metrics) {
    for (const Size size : sizes) {
      for (const double part : {0.0, 0.003, 0.05, 0.5, 0.98, 1.0}) {
        const int rows = static_cast<int>(size.height), columns = static_cast<int>(size.width);
        expect_distances(scattered(rows, columns, part, 0, ++seed), metric);
      }
    }
  }
}

TEST(Bwdist, IsBruteForceOnLongImages) {
  std::uint64_t seed = 70;
  for (const char* metric : metrics) {
    expect_distances(scattered(70, 9000, 0, 5, ++seed), metric);
    expect_distances(scattered(9000, 70, 0, 5, ++seed), metric);
  }
  expect_distances(scattered(70, 9000, 0, 60, 1), "euclidean");
  expect_distances(scattered(9000, 70, 0, 60, 2), "euclidean");
}

// Squares beyond 31 bits: another kind of number inside.
TEST(Bwdist, LongerThanTheRootOfIntegers) {
  for (const int length : {46000, 70000}) {
    Image row(PixelClass::logical, 1, 1, length, 1);
    row.at(0, 0) = row.at(0, length - 3) = 1;
    expect_distances(row, "euclidean");
    Image column(PixelClass::logical, 1, length, 1, 1);
    column.at(length - 1, 0) = 1;
    expect_distances(column, "euclidean");
  }
}

TEST(Bwdist, AnyClassAndNotZeroIsSet) {
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    Image image = scattered(37, 53, 0.02, 1, 3);
    image.cls = cls;
    image.white = class_max(cls);
    const double value = cls == PixelClass::single ? -0.25 : cls == PixelClass::uint16 ? 256 : 2;
    for (double& v : image.values) v *= value;
    expect_distances(image, "euclidean");
  }
}

// A distance is 0 exactly on the set, and neighbours differ by at most 1 across a side.
TEST(Bwdist, IsADistance) {
  const Image image = scattered(200, 300, 0.001, 1, 11);
  const Image d = reference::from_host(run("bwdist", reference::to_host(image)).image);
  for (int r = 0; r < d.rows; ++r) {
    for (int c = 0; c < d.columns; ++c) {
      ASSERT_EQ(d.at(r, c) == 0, image.at(r, c) != 0);
      const double left = d.at(r, std::max(c - 1, 0)), over = d.at(std::max(r - 1, 0), c);
      ASSERT_LE(std::abs(d.at(r, c) - left), 1 + 1e-4);
      ASSERT_LE(std::abs(d.at(r, c) - over), 1 + 1e-4);
    }
  }
  const HostImage turned = run("transpose | bwdist | transpose", reference::to_host(image)).image;
  EXPECT_EQ(test::difference(d, turned), "");
}

TEST(Dither, IsTheRasterLoop) {
  const Size sizes[] = {{1, 1},   {1, 40},  {70, 1},   {2, 2},    {16, 15}, {15, 16},  {31, 17},
                        {33, 32}, {64, 33}, {225, 48}, {227, 40}, {256, 9}, {1025, 70}};
  std::uint64_t seed = 30;
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Size size : sizes) {
      const HostImage image = test::test_image(cls, 1, size, ++seed);
      EXPECT_EQ(test::difference(reference::dither(reference::from_host(image)),
                                 run("dither", image).image),
                "")
          << test::describe(image);
    }
  }
}

// A picture large enough for several threads to chase one another, again and again.
TEST(Dither, IsTheRasterLoopOnManyThreads) {
  const HostImage image = test::test_image(PixelClass::uint8, 1, {1500, 700}, 8);
  const Image expected = reference::dither(reference::from_host(image));
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(test::difference(expected, run("dither floyd-steinberg", image).image), "");
  }
}

// White other than the class's: conv2 of a uint8 image is single with white 255.
TEST(Dither, ScalesByWhite) {
  const HostImage image = test::test_image(PixelClass::uint8, 1, {60, 40}, 9);
  EXPECT_EQ(test::difference(run("dither", image).image, run("conv2 [1] | dither", image).image),
            "");
  const std::string error = test::error_of("bwdist | dither", image);
  EXPECT_NE(error.find("dither: the image has no white to scale by; use mat2gray first"),
            std::string::npos)
      << error;
}

std::vector<double> range(double first, double step, int count) {
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back(first + step * i);
  return out;
}

TEST(Radon, IsItsDefinition) {
  const Size sizes[] = {{1, 1}, {1, 9}, {12, 1}, {2, 2}, {8, 8}, {37, 53}, {64, 15}, {9, 200}};
  const std::pair<const char*, std::vector<double>> angles[] = {
      {"radon 0:7:179", range(0, 7, 26)},
      {"radon 0,45,90,135,180,225,270,315,-30,720.5",
       {0, 45, 90, 135, 180, 225, 270, 315, -30, 720.5}},
      {"radon 44.9:0.05:45.1", range(44.9, 0.05, 5)},
      {"radon theta=90", {90}}};
  std::uint64_t seed = 50;
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Size size : sizes) {
      const HostImage image = test::test_image(cls, 1, size, ++seed);
      for (const auto& [text, degrees] : angles) {
        const Image expected = reference::radon(reference::from_host(image), degrees);
        double largest = 0;
        for (const double v : expected.values) largest = std::max(largest, std::abs(v));
        EXPECT_EQ(test::difference(expected, run(text, image).image, 1e-6 * largest), "")
            << text << " of " << test::describe(image);
      }
    }
  }
}

TEST(Radon, EveryColumnSumsToTheImage) {
  const HostImage image = test::test_image(PixelClass::uint16, 1, {301, 122}, 3);
  double sum = 0;
  for (const double v : reference::from_host(image).values) sum += v;
  const Image projected = reference::from_host(run("radon", image).image);
  ASSERT_EQ(projected.columns, 180);
  for (int t = 0; t < projected.columns; ++t) {
    double column = 0;
    for (int r = 0; r < projected.rows; ++r) column += projected.at(r, t);
    EXPECT_NEAR(column, sum, 1e-6 * sum) << t;
  }
}

TEST(Radon, TheSameBytesEveryTime) {
  const HostImage image = test::test_image(PixelClass::single, 1, {200, 130}, 4);
  const HostImage once = run("radon 0:0.5:179.5", image).image;
  EXPECT_EQ(once.size(), (Size{360, 243}));
  EXPECT_EQ(test::difference(once, run("radon 0:0.5:179.5", image).image), "");
}

void expect_iradon(const HostImage& projections, const std::string& arguments,
                   const std::vector<double>& degrees, const reference::IradonOptions& options) {
  const Image expected = reference::iradon(reference::from_host(projections), degrees, options);
  double largest = 0;
  for (const double v : expected.values) largest = std::max(largest, std::abs(v));
  EXPECT_EQ(
      test::difference(expected, run("iradon " + arguments, projections).image, 1e-6 * largest), "")
      << arguments << " of " << test::describe(projections);
}

// Many places are in the middle between two samples, but for the rounding of sines.
TEST(Iradon, NearestDecidesTiesByThePlaceItself) {
  const HostImage image = test::test_image(PixelClass::single, 1, {5, 33}, 7);
  expect_iradon(image, "30,60,120,150,210 nearest none", {30, 60, 120, 150, 210},
                {.interp = "nearest", .filter = "none"});
}

TEST(Iradon, IsItsDefinition) {
  const std::string list = "3.3:11.7:179";
  const std::vector<double> degrees = range(3.3, 11.7, 16);
  std::uint64_t seed = 90;
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const std::int64_t rows : {7, 23, 64, 69}) {
      const HostImage image = test::test_image(cls, 1, {16, rows}, ++seed);
      expect_iradon(image, list, degrees, {});
      expect_iradon(image, list + " nearest none", degrees,
                    {.interp = "nearest", .filter = "none"});
      for (const char* filter : {"shepp-logan", "cosine", "hamming", "hann"}) {
        expect_iradon(image, list + " " + filter, degrees, {.filter = filter});
        expect_iradon(image, list + " scaling=0.6 size=31 " + filter, degrees,
                      {.filter = filter, .scaling = 0.6, .side = 31});
      }
    }
  }
}

// The formulas of iradon's reference.
TEST(Iradon, WindowsAreTheWrittenFormulas) {
  using Filter = Project::Filter;
  using std::numbers::pi;
  constexpr int length = 64;
  const double narrow = std::cos(pi / (length - 1));
  const auto raised = [&](double mean, double f) {
    return mean + (1 - mean) * narrow * std::cos(2 * pi * f * length / (length - 1));
  };
  const std::vector<std::pair<Filter, std::function<double(double)>>> windows{
      {Filter::ram_lak, [](double) { return 1.0; }},
      {Filter::shepp_logan, [](double f) { return f == 0 ? 1 : std::sin(pi * f) / (pi * f); }},
      {Filter::cosine, [](double f) { return std::cos(pi * f); }},
      {Filter::hamming, [&](double f) { return raised(0.54, f); }},
      {Filter::hann, [&](double f) { return raised(0.5, f); }}};
  for (const double scaling : {1.0, 0.7}) {
    for (const auto& [filter, window] : windows) {
      const std::vector<double> response = filter_response(filter, length, scaling);
      for (int k = -length / 2 + 1; k < length / 2; ++k) {
        const double f = static_cast<double>(k) / length;
        const double expected =
            std::abs(f) > scaling / 2 ? 0 : 2 * std::abs(f) * window(f / scaling);
        EXPECT_NEAR(response[static_cast<std::size_t>(k + length) % length], expected, 1e-12)
            << static_cast<int>(filter) << " " << k;
      }
    }
  }
  EXPECT_NEAR(filter_response(Filter::hamming, length, 1)[length / 2], 0.08, 1e-12);
  EXPECT_NEAR(filter_response(Filter::hann, length, 1)[length / 2], 0, 1e-12);
}

TEST(Iradon, EverySideMeetsItsSamples) {
  const HostImage image = test::test_image(PixelClass::single, 1, {5, 9}, 2);
  for (int side = 1; side < 45; ++side) {
    expect_iradon(image, "theta=0,45,90,135,-45 size=" + std::to_string(side),
                  {0, 45, 90, 135, -45}, {.side = side});
  }
}

TEST(Iradon, AnglesThatAreNotListed) {
  const HostImage image = test::test_image(PixelClass::single, 1, {12, 40}, 3);
  expect_iradon(image, "", range(0, 15, 12), {});
  expect_iradon(image, "7.5", range(0, 7.5, 12), {});
  expect_iradon(image, "7.5 first=-20", range(-20, 7.5, 12), {});
  expect_iradon(image, "first=3", range(3, 15, 12), {});
  const HostImage single = test::test_image(PixelClass::uint8, 1, {1, 23}, 4);
  expect_iradon(single, "first=30", {30}, {});
  const std::string error = test::error_of("iradon 0:10:170", image);
  EXPECT_EQ(error, "iradon: 18 angles for 12 projections, the columns of the image");
}

// A soft blob comes back from its projections.
TEST(Iradon, UndoesRadon) {
  Image blob(PixelClass::single, 1, 64, 64, 1);
  for (int r = 0; r < 64; ++r) {
    for (int c = 0; c < 64; ++c) {
      blob.at(r, c) = std::exp(-(std::pow(r - 25, 2) + std::pow(c - 36, 2)) / 60);
    }
  }
  const Image back = reference::from_host(
      run("radon 0:179 | iradon 0:179 size=64", reference::to_host(blob)).image);
  for (int r = 0; r < 64; ++r) {
    for (int c = 0; c < 64; ++c) EXPECT_NEAR(back.at(r, c), blob.at(r, c), 0.03) << r << " " << c;
  }
}

}  // namespace
}  // namespace impipe
