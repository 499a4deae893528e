// Colour: laws that hold for any picture, and values worked out from the definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/pipeline_runner.hpp"
#include "support/reference/image.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

using test::run;

std::vector<double> values(const HostImage& image) {
  const reference::Image out = reference::from_host(image);
  return {out.values.begin(), out.values.end()};
}

double farthest(const std::string& pipeline, const HostImage& image) {
  const std::vector<double> before = values(run("im2single", image).image);
  const std::vector<double> after = values(run(pipeline, image).image);
  double out = after.size() == before.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) {
    out = std::max(out, std::fabs(after[i] - before[i]));
  }
  return out;
}

TEST(Colour, TheWayBackLeadsBack) {
  for (const PixelClass cls : {PixelClass::logical, PixelClass::uint8, PixelClass::uint16}) {
    const HostImage image = test::test_image(cls, 3, {31, 17}, 7);
    EXPECT_LT(farthest("rgb2hsv | hsv2rgb", image), 1e-6);
    EXPECT_LT(farthest("rgb2xyz | xyz2rgb", image), 2e-5);
    EXPECT_LT(farthest("rgb2lab | lab2rgb", image), 2e-5);
    EXPECT_LT(farthest("im2single | rgb2lin | lin2rgb", image), 2e-6);
    EXPECT_LT(farthest("im2single | rgb2ycbcr 709 | ycbcr2rgb 709", image), 2e-6);
  }
}

TEST(Colour, GrayHasNoColour) {
  const HostImage gray = test::test_image(PixelClass::uint8, 1, {31, 17}, 8);
  for (const double v : values(run("gray2rgb | rgb2hsv | channel 2", gray).image)) EXPECT_EQ(v, 0);
  for (const double v : values(run("gray2rgb | rgb2ycbcr | channel b", gray).image)) {
    EXPECT_EQ(v, 128);
  }
  for (const double v : values(run("gray2rgb | rgb2lab | channel g", gray).image)) {
    EXPECT_NEAR(v, 0, 0.02);  // the rows of the matrix sum to the white point to five digits
  }
}

TEST(Colour, ChannelsComeApartAndTogether) {
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    const HostImage image = test::test_image(cls, 3, {31, 17}, 9);
    const HostImage green = run("channel g", image).image, blue = run("channel 3", image).image;
    const std::map<std::string, HostImage> others{{"g", green}, {"b", blue}};
    EXPECT_EQ(test::difference(image, run("channel r | cat :g :b", image, others).image), "");
    EXPECT_EQ(test::difference(run("imapplymatrix [0 0 1]", image).image, blue), "");
  }
}

// imapplymatrix(M, A, C) of MATLAB: a channel of the result for each row of M.
TEST(Colour, EveryRowOfAMatrixMakesAChannel) {
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    const HostImage image = test::test_image(cls, 3, {31, 17}, 9);
    const std::vector<std::string> rows{"0.5 0.25 0.25", "-0.5 1 0.5", "0 0.125 1.5", "1 0 0",
                                        "0 0 0.5"};
    const std::vector<std::string> add{"3", "-2", "0", "1", "10"};
    for (std::size_t count = 1; count <= rows.size(); ++count) {
      std::string matrix, offset;
      for (std::size_t row = 0; row < count; ++row) {
        matrix += (row == 0 ? "" : "; ") + rows[row];
        offset += (row == 0 ? "" : ",") + add[row];
      }
      const HostImage all = run("imapplymatrix [" + matrix + "] add=" + offset, image).image;
      ASSERT_EQ(all.type.channels, static_cast<int>(count));
      for (std::size_t row = 0; row < count; ++row) {
        HostImage channel = all;
        channel.type.channels = 1;
        channel.planes = {all.planes[row]};
        const std::string alone = "imapplymatrix [" + rows[row] + "] add=" + add[row];
        EXPECT_EQ(test::difference(channel, run(alone, image).image), "") << count << " " << row;
      }
    }
  }
  const HostImage image = test::test_image(PixelClass::uint8, 3, {4, 3}, 9);
  EXPECT_NE(test::error_of("imapplymatrix [1 2; 3 4]", image)
                .find("a matrix of 3 columns and at most 1000 rows is needed, not 2x2"),
            std::string::npos);
}

TEST(Colour, AnyNumberOfImagesIsConcatenated) {
  const HostImage gray = test::test_image(PixelClass::uint8, 1, {5, 4}, 1);
  const HostImage other = test::test_image(PixelClass::uint8, 1, {5, 4}, 2);
  const std::map<std::string, HostImage> others{{"b", other}};
  const HostImage two = run("cat :b", gray, others).image;
  EXPECT_EQ(two.type.channels, 2);
  EXPECT_EQ(test::difference(run("cat :b | channel 1", gray, others).image, gray), "");
  EXPECT_EQ(test::difference(run("cat :b | channel 2", gray, others).image, other), "");
  EXPECT_EQ(test::difference(run("cat :b :b :b | channel 4", gray, others).image, other), "");
}

TEST(Colour, MatricesAreWhatTheyAreCalledAfter) {
  HostImage red({.cls = PixelClass::uint8, .channels = 3}, {1, 1});
  *red.planes[0].row_as<std::uint8_t>(0) = 255;
  *red.planes[1].row_as<std::uint8_t>(0) = *red.planes[2].row_as<std::uint8_t>(0) = 0;
  // 16 + 219 * 0.299 = 81.481, 128 - 224 * 0.299 / 1.772 = 90.203, 128 + 112.
  EXPECT_EQ(values(run("rgb2ycbcr", red).image), (std::vector<double>{81, 90, 240}));
  const std::vector<double> xyz = values(run("rgb2xyz", red).image);
  EXPECT_NEAR(xyz[0], 0.412453, 1e-6);
  EXPECT_NEAR(xyz[2], 0.019334, 1e-6);
  EXPECT_EQ(values(run("rgb2hsv", red).image), (std::vector<double>{0, 1, 1}));
}

TEST(Colour, AGrayImageCountsForEachChannel) {
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    const HostImage image = test::test_image(cls, 3, {31, 17}, 9);
    const HostImage gray = test::test_image(cls, 1, {31, 17}, 10);
    const std::map<std::string, HostImage> others{
        {"g", gray}, {"c", image}, {"three", run("gray2rgb", gray).image}};
    for (const char* stage : {"imadd", "immultiply", "imabsdiff", "imlincomb 1 -0.5"}) {
      const std::string text = stage;
      const HostImage expected = run(text + " :three", image, others).image;
      EXPECT_EQ(test::difference(expected, run(text + " :g", image, others).image), "") << stage;
      EXPECT_EQ(test::difference(run("imgaussfilt 1 | " + text + " :three", image, others).image,
                                 run("imgaussfilt 1 | " + text + " :g", image, others).image),
                "");
    }
    EXPECT_EQ(test::difference(run("imadd :three", image, others).image,
                               run("imadd :c", gray, others).image),
              "");
    EXPECT_EQ(test::difference(run("map 'x - three / 2 + r'", image, others).image,
                               run("map 'x - gray / 2 + r'", image, {{"gray", gray}}).image),
              "");
  }
}

TEST(Colour, AMaskGoesWithAnyClass) {
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    const HostImage image = test::test_image(cls, 3, {31, 17}, 9);
    const HostImage mask = test::test_image(PixelClass::logical, 1, {31, 17}, 10);
    const std::vector<double> before = values(image), set = values(mask);
    const std::vector<double> after = values(run("immultiply :m", image, {{"m", mask}}).image);
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      EXPECT_EQ(after[i], before[i] * set[i / 3]) << i;
    }
    EXPECT_EQ(test::difference(run("immultiply :m", image, {{"m", mask}}).image,
                               run("immultiply :a", mask, {{"a", image}}).image),
              "");
    EXPECT_EQ(test::difference(run("immultiply :m", image, {{"m", mask}}).image,
                               run("map 'm ? x : 0'", image, {{"m", mask}}).image),
              "");
  }
}

TEST(Colour, EachChannelHasLimitsOfItsOwn) {
  const HostImage image = test::test_image(PixelClass::uint8, 3, {31, 17}, 9);
  const std::map<std::string, HostImage> parts{
      {"g", run("channel g | imadjust 0.2,0.7", image).image},
      {"b", run("channel b | imadjust 0,0.9", image).image}};
  EXPECT_EQ(test::difference(run("channel r | imadjust 0.1,0.5 | cat :g :b", image, parts).image,
                             run("imadjust [0.1 0.2 0; 0.5 0.7 0.9]", image).image),
            "");
}

TEST(Colour, WhatDoesNotFitIsSaid) {
  const HostImage image = test::test_image(PixelClass::uint8, 3, {5, 4}, 1);
  const HostImage gray = test::test_image(PixelClass::uint8, 1, {5, 4}, 1);
  EXPECT_EQ(test::error_of("rgb2hsv", gray),
            "pipeline:1:1: rgb2hsv: it takes a colour image, and this one is gray; gray2rgb makes "
            "three channels of it\n  rgb2hsv\n  ^^^^^^^");
  EXPECT_NE(test::error_of("channel 2", gray).find("channel: the image has 1 channel"),
            std::string::npos);
  EXPECT_NE(test::error_of("cat :b :b", image, {{"b", gray}})
                .find("every image becomes one channel, and the current one has 3"),
            std::string::npos);
}

TEST(Channel, IsAnyOfThemOrAlpha) {
  HostImage image = test::test_image(PixelClass::uint8, 5, {9, 7}, 1);
  for (std::size_t k = 0; k < 5; ++k) {
    HostImage wanted = test::test_image(PixelClass::uint8, 1, {9, 7}, 2);
    wanted.planes[0] = image.planes[k];
    EXPECT_EQ(test::difference(wanted, run("channel " + std::to_string(k + 1), image).image), "");
  }
  EXPECT_NE(test::error_of("channel 6", image).find("channel: the image has 5 channels"),
            std::string::npos);
  EXPECT_NE(test::error_of("channel a", image).find("channel: the image has no alpha"),
            std::string::npos);
  const HostImage alpha = test::test_image(PixelClass::uint8, 1, {9, 7}, 3);
  image.type.alpha = true;
  image.alpha = alpha.planes[0];
  EXPECT_EQ(test::difference(alpha, run("channel a", image).image), "");
}

TEST(Names, OfKernelsAndElementsInAnyCase) {
  const HostImage image = test::test_image(PixelClass::uint8, 1, {20, 9}, 3);
  EXPECT_EQ(
      test::difference(run("imfilter fspecial:gaussian,5,1 | imdilate strel:disk,3", image).image,
                       run("imfilter Gaussian,5,1 | imdilate Strel:Disk,3", image).image),
      "");
}

TEST(Label2rgb, TakesAMapOfAsManyRowsAsThereAreLabels) {
  const auto row_of = [](const std::vector<std::uint8_t>& values) {
    HostImage row({.cls = PixelClass::uint8, .channels = 1, .white = 255}, {4, 1});
    std::copy(values.begin(), values.end(), row.planes[0].row_as<std::uint8_t>(0));
    return row;
  };
  const HostImage labels = row_of({0, 3, 1, 2}), wanted = row_of({0, 128, 0, 255});
  const std::string map = "label2rgb background=0,0,0 [1 0 0; 0 1 0; 0 0.5 1";
  for (const std::string rest : {"", "; 1 1 1"}) {
    EXPECT_EQ(test::difference(wanted, run(map + rest + "] | channel g", labels).image), "");
  }
  EXPECT_EQ(test::error_of("label2rgb [1 0 0; 0 1 0]", labels),
            "label2rgb: there are labels beyond the map's 2 rows");
}

}  // namespace
}  // namespace impipe
