// Sums of very many weights by Fourier transforms, against the same sums weight by weight.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/fourier_tiles.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/explain.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"
#include "pipeline/parser.hpp"
#include "support/pipeline_runner.hpp"
#include "support/reference/image.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

constexpr PixelClass logical = PixelClass::logical, uint8 = PixelClass::uint8,
                     uint16 = PixelClass::uint16, single = PixelClass::single;

// Weights from -4 to 9, some of them 0, whose absolute values' sum is near 1.
std::string kernel(int rows, int columns) {
  std::mt19937 random(static_cast<unsigned>(100 * rows + columns));
  std::string text = "[";
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c)
      text += " " + std::to_string(static_cast<int>(random() % 14) - 4);
    text += r + 1 < rows ? ";" : "]";
  }
  return text + "/" + std::to_string(4 * rows * columns);
}

std::string steps(const std::string& text, const ImageType& type) {
  std::string out;
  for (const Step& step :
       pipeline::fuse(pipeline::lower(pipeline::bind(pipeline::parse(text)), type)).steps) {
    out += pipeline::describe(step) + "\n";
  }
  return out;
}

// How far the results of both ways are apart. Direct float32 sums of 3000 weights above 0 are off
// by some 2e-6. Integers may differ by 1 at ties, near which sums of codes of 16 bits often are.
std::string apart(const std::string& text, const HostImage& image) {
  const HostImage direct = test::run(text + " method=direct", image).image;
  const HostImage fourier = test::run(text + " method=fft", image).image;
  const reference::Image expected = reference::from_host(direct);
  const double white = expected.white != 0 ? expected.white : 1;
  return test::difference(expected, fourier, expected.cls == single ? 4e-6 * white : 0, 0.05);
}

TEST(Fourier, SumsAreThoseOfTheDefinition) {
  const Size sizes[] = {{1, 1}, {3, 40}, {530, 20}, {37, 1100}};
  std::uint64_t seed = 0;
  for (const std::string options :
       {"", " replicate", " symmetric conv", " circular", " 0.5 full"}) {
    for (const PixelClass cls : {uint8, uint16, single}) {
      for (const Size size : sizes) {
        const HostImage image = test::test_image(cls, size.width == 3 ? 3 : 1, size, ++seed);
        const std::string weights = seed % 2 == 0 ? kernel(5, 12) : kernel(19, 8);
        EXPECT_EQ(apart("imfilter " + weights + options, image), "")
            << options << " on " << test::describe(image);
      }
    }
  }
}

TEST(Fourier, LargeKernelsOverSeveralTiles) {
  const HostImage image = test::test_image(uint8, 1, {500, 600}, 3);
  for (const char* text :
       {"conv2 fspecial:disk,30", "conv2 fspecial:disk,30 full", "filter2 fspecial:disk,31 valid",
        "imfilter fspecial:disk,90 symmetric"}) {
    EXPECT_EQ(apart(text, image), "") << text;
  }
}

// Against sums in double.
TEST(Fourier, IsMoreExactThanItSays) {
  constexpr int rows = 45, columns = 63, width = 900, height = 600;
  const HostImage image = test::test_image(single, 1, {width, height}, 11);
  std::mt19937 random(3);
  std::vector<double> weights;
  std::string text = "filter2 [";
  for (int i = 0; i < rows * columns; ++i) {
    weights.push_back(static_cast<double>(random() % 1024) / (512 * rows * columns));
    text += fmt::format("{}{:.17g}", i > 0 && i % columns == 0 ? ";" : " ", weights.back());
  }
  const HostImage sums = test::run(text + "]", image).image;
  for (int i = 0; i < 2000; ++i) {
    const auto x = static_cast<int>(random() % width), y = static_cast<int>(random() % height);
    double sum = 0;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        const int at_x = x + c - (columns - 1) / 2, at_y = y + r - (rows - 1) / 2;
        if (at_x < 0 || at_y < 0 || at_x >= width || at_y >= height) continue;
        sum += weights[static_cast<std::size_t>(r * columns + c)] *
               image.planes[0].row_as<float>(at_y)[at_x];
      }
    }
    EXPECT_NEAR(sums.planes[0].row_as<float>(y)[x], sum, 5e-7) << x << " " << y;
  }
}

TEST(Fourier, HasTheSameBitsEverywhere) {
  std::vector<HostImage> images;
  for (const PixelClass cls : {logical, uint8, uint16, single}) {
    images.push_back(test::test_image(cls, 1, {600, 90}, 5));
  }
  images.push_back(test::test_image_with_specials(1, {1040, 70}, 6));
  for (const HostImage& image : images) {
    for (const char* text : {"conv2 fspecial:disk,20", "filter2 fspecial:disk,80 full"}) {
      // Weight by weight that takes long.
      if (image.size().width > 600 && text[0] == 'f') continue;
      const HostImage expected = test::run(text, image, {}, {.level = CpuLevel::baseline}).image;
      for (const CpuLevel level : {CpuLevel::v3, CpuLevel::v4}) {
        if (!test::has_level(level)) continue;
        EXPECT_EQ(test::difference(expected, test::run(text, image, {}, {.level = level}).image),
                  "")
            << text << " on " << test::describe(image);
      }
      for (const char* backend : {"opencl", "cuda"}) {
        if (!test::has_device(backend)) continue;
        EXPECT_EQ(
            test::difference(expected, test::run(text, image, {}, {.backend = backend}).image), "")
            << text << " on " << test::describe(image) << " by " << backend;
      }
    }
  }
}

// Where a pixel is no number, or beyond those that transforms take, its tiles are summed weight by
// weight, bit for bit.
TEST(Fourier, PixelsThatAreNoNumbersStayWhereTheyAre) {
  const std::string text = "conv2 " + kernel(33, 35);
  const HostImage specials = test::test_image_with_specials(1, {300, 60}, 7);
  EXPECT_EQ(test::difference(test::run(text + " method=direct", specials).image,
                             test::run(text + " method=fft", specials).image),
            "");
  // Four tiles, in the second pair of which one pixel is none.
  HostImage image = test::test_image(single, 1, {1900, 40}, 8);
  for (const float special : {std::nanf(""), INFINITY, 1e30f}) {
    image.planes[0].row_as<float>(20)[1400] = special;
    const HostImage direct = test::run(text + " method=direct", image).image;
    const HostImage fourier = test::run(text, image).image;
    int others = 0;
    for (std::int64_t y = 0; y < 40; ++y) {
      for (std::int64_t x = 0; x < 1900; ++x) {
        const float a = direct.planes[0].row_as<float>(y)[x];
        const float b = fourier.planes[0].row_as<float>(y)[x];
        if (x >= 2 * (512 - 34)) {
          EXPECT_TRUE(a == b || (a != a && b != b)) << x << " " << y;
        } else {
          EXPECT_NEAR(a, b, 1e-6) << x << " " << y;
          others += a != b ? 1 : 0;
        }
      }
    }
    EXPECT_GT(others, 1000) << "no tile was made by transforms";
  }
}

// Of whole weights and an integer class, where they are at most 2^20: as many neighbours as there
// are, 0 where there is none.
TEST(Fourier, WholeSumsAreExact) {
  std::mt19937 random(9);
  std::string neighbours = "[", balanced = "[";
  for (int r = 0; r < 63; ++r) {
    for (int c = 0; c < 63; ++c) {
      neighbours += (r - 31) * (r - 31) + (c - 31) * (c - 31) <= 961 ? " 1" : " 0";
      balanced += random() % 2 == 0 ? " 1" : " -1";
    }
    neighbours += r < 62 ? ";" : "]", balanced += r < 62 ? ";" : "]";
  }
  HostImage bits = test::test_image(logical, 1, {700, 400}, 4);
  for (std::int64_t y = 100; y < 300; ++y) {
    std::fill_n(bits.planes[0].row_as<std::uint8_t>(y), 300, std::uint8_t{0});
  }
  const HostImage bytes = test::test_image(uint8, 1, {530, 90}, 5);
  for (const std::string& weights : {neighbours, balanced}) {
    for (const HostImage& image : {bits, bytes}) {
      const std::string text = "conv2 " + weights;
      EXPECT_EQ(test::difference(test::run(text + " method=direct", image).image,
                                 test::run(text, image).image),
                "")
          << test::describe(image);
    }
  }
}

TEST(Fourier, IsChosenByTheKernelAndTold) {
  const ImageType bytes{}, bits{.cls = logical, .white = 1};
  const std::string disk =
      "fourier 63x63 constant, 3149 products a pixel by transforms of tiles of 512x512\n";
  EXPECT_EQ(steps("conv2 fspecial:disk,31", bytes), disk);
  EXPECT_EQ(steps("conv2 fspecial:disk,31 method=direct", bytes), "stencil 63x63 constant\n");
  EXPECT_EQ(steps("imfilter fspecial:disk,31", bytes), disk);
  EXPECT_EQ(steps("imfilter fspecial:disk,31", bits), "stencil 63x63 constant\n");
  EXPECT_EQ(steps("filter2 fspecial:disk,31", bits), disk);
  EXPECT_EQ(steps("conv2 k63", bytes), "separable 63x63 constant\n");
  EXPECT_EQ(steps("conv2 k63 method=fft", bytes),
            "fourier 63x63 constant, 3969 products a pixel by transforms of tiles of 512x512\n");
  EXPECT_EQ(steps("conv2 fspecial:disk,10", bytes), "stencil 21x21 constant\n");
  EXPECT_EQ(steps("conv2 fspecial:motion,99,30", bytes).substr(0, 7), "fourier");
  EXPECT_EQ(steps("conv2 fspecial:motion,9,30", bytes).substr(0, 7), "stencil");
  EXPECT_EQ(
      steps("imfilter fspecial:disk,80 replicate", bytes),
      "fourier 161x161 replicate, 20429 products a pixel by transforms of tiles of 1024x1024\n");
}

TEST(Fourier, WhatItIsNotFor) {
  const HostImage bits = test::test_image(logical, 1, {9, 9}, 1);
  EXPECT_EQ(
      test::error_of("imfilter [1 2] method=fft", bits),
      "pipeline:1:23: imfilter: a logical result says whether a sum is 0: direct alone is that "
      "exact\n  imfilter [1 2] method=fft\n                        ^^^");
  std::string long_row = "conv2 [0";
  for (int i = 0; i < 640; ++i) long_row += " 1";
  EXPECT_NE(test::error_of(long_row + "] method=fft", bits).find("at most 640 rows and columns"),
            std::string::npos);
}

TEST(Fourier, FactorsAreExactAtQuarters) {
  for (const int side : {512, 1024}) {
    const std::span<const float> factors = fourier_factors(side);
    ASSERT_EQ(factors.size(), 2u * static_cast<std::size_t>(side));
    EXPECT_EQ(factors[2 * static_cast<std::size_t>(side) / 4], 0.0f);
    EXPECT_EQ(factors[2 * static_cast<std::size_t>(side) / 4 + 1], -1.0f);
    EXPECT_EQ(factors[static_cast<std::size_t>(side)], -1.0f);
    EXPECT_EQ(factors[static_cast<std::size_t>(side) + 1], 0.0f);
  }
}

}  // namespace
}  // namespace impipe
