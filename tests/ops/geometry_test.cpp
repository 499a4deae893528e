// Crops, frames, other sizes and affine maps against naive references.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/text.hpp"
#include "support/pipeline_runner.hpp"
#include "support/reference/geometry.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

using reference::Image;
using test::run;

constexpr PixelClass classes[] = {PixelClass::logical, PixelClass::uint8, PixelClass::uint16,
                                  PixelClass::single};
const Size sizes[] = {{1, 1},   {1, 40},  {40, 1},  {31, 17}, {33, 32},
                      {64, 31}, {63, 65}, {129, 5}, {7, 127}, {1025, 3}};

// As float32 sums of a few hundred values of the image are.
double tolerance_of(PixelClass cls) { return cls == PixelClass::single ? 4e-6 : 0; }

std::string list(std::initializer_list<int> numbers) {
  std::string out;
  for (const int n : numbers) out += (out.empty() ? "" : ",") + std::to_string(n);
  return out;
}

TEST(Imcrop, IsTheRectangleCutToTheImage) {
  const struct {
    int left, top, width, height;
  } windows[] = {{0, 0, 1, 1}, {0, 0, 5000, 5000}, {-3, -2, 5, 7},
                 {3, 0, 9, 1}, {-40, 0, 50, 2},    {0, -7, 2000, 8}};
  std::uint64_t seed = 1;
  for (const PixelClass cls : classes) {
    for (const int channels : {1, 3}) {
      for (const Size size : sizes) {
        const HostImage image = test::test_image(cls, channels, size, ++seed);
        for (const auto& w : windows) {
          if (w.left >= size.width || w.top >= size.height) continue;
          const std::string text = "imcrop " + list({w.left, w.top, w.width, w.height});
          EXPECT_EQ(test::difference(reference::crop(reference::from_host(image), w.left, w.top,
                                                     w.width, w.height),
                                     run(text, image).image),
                    "")
              << text << " of " << test::describe(image);
        }
      }
    }
  }
}

TEST(Imcrop, SizesLieWhereTheyAreSaidTo) {
  const HostImage image = test::test_image(PixelClass::uint8, 1, {31, 17}, 5);
  const struct {
    const char* text;
    int left, top, width, height;
  } windows[] = {{"size=5,7", 12, 6, 7, 5},
                 {"size=6", 12, 5, 6, 6},
                 {"size=5,7 northwest", 0, 0, 7, 5},
                 {"size=5,7 southeast", 24, 12, 7, 5},
                 {"size=5,7 north", 12, 0, 7, 5},
                 {"size=5,7 at=west", 0, 6, 7, 5},
                 // 15.5 and 8.5 pixels, the halves up; a quarter is 7.75 and 4.25, rounded down.
                 {"size=50 percent", 7, 4, 16, 9},
                 {"10,20,50,40 percent", 3, 3, 16, 7}};
  for (const auto& w : windows) {
    EXPECT_EQ(test::difference(
                  reference::crop(reference::from_host(image), w.left, w.top, w.width, w.height),
                  run(std::string("imcrop ") + w.text, image).image),
              "")
        << w.text;
  }
}

TEST(Imcrop, SaysWhatIsWrong) {
  const HostImage image = test::test_image(PixelClass::uint8, 1, {31, 17}, 5);
  EXPECT_EQ(test::error_of("imcrop 31,0,4,4", image),
            "imcrop: the image is only 31x17, so that nothing is left of it");
  EXPECT_NE(test::error_of("imcrop", image)
                .find("imcrop: it needs either rect=left,top,width,height, size=rows,columns or "
                      "display"),
            std::string::npos);
  EXPECT_NE(test::error_of("imcrop 1,2,0,4", image).find("width and height must be above 0"),
            std::string::npos);
  EXPECT_NE(test::error_of("imcrop 1,2,3,4 north", image)
                .find("at is where a size lies; a rect has its own place"),
            std::string::npos);
}

TEST(Impad, IsTheFrameOfItsRule) {
  std::uint64_t seed = 40;
  const struct {
    int top, bottom, left, right;
  } frames[] = {{0, 0, 0, 0}, {1, 2, 3, 4}, {0, 70, 9, 0}, {35, 3, 80, 80}};
  for (const PixelClass cls : classes) {
    for (const int channels : {1, 3}) {
      for (const Size size : sizes) {
        const HostImage image = test::test_image(cls, channels, size, ++seed);
        for (const auto& f : frames) {
          for (const std::string rule : {"", "replicate", "symmetric", "reflect", "circular"}) {
            const double value = cls == PixelClass::single ? -0.75 : 77.5;
            std::string text = "impad " + list({f.top, f.bottom, f.left, f.right});
            text += " boundary=" + (rule.empty() ? number_text(value) : rule);
            EXPECT_EQ(test::difference(reference::pad(reference::from_host(image), f.top, f.bottom,
                                                      f.left, f.right, rule, value),
                                       run(text, image).image),
                      "")
                << text << " of " << test::describe(image);
          }
        }
      }
    }
  }
}

TEST(Impad, OneAndTwoNumbers) {
  const HostImage image = test::test_image(PixelClass::uint8, 3, {31, 17}, 5);
  const Image a = reference::from_host(image);
  EXPECT_EQ(test::difference(reference::pad(a, 3, 3, 3, 3, "", 0), run("impad 3", image).image),
            "");
  EXPECT_EQ(test::difference(reference::pad(a, 3, 3, 8, 8, "symmetric", 0),
                             run("impad 3,8 symmetric", image).image),
            "");
  EXPECT_EQ(
      test::difference(reference::pad(a, 3, 0, 8, 0, "", 0), run("impad 3,8 pre", image).image),
      "");
  EXPECT_EQ(test::difference(reference::pad(a, 0, 3, 0, 3, "reflect", 0),
                             run("impad 3 reflect post", image).image),
            "");
  EXPECT_NE(test::error_of("impad 1,2,3,4 pre", image).find("four numbers name their sides"),
            std::string::npos);
  EXPECT_NE(test::error_of("impad 1,2,3", image)
                .find("it takes 1 number, 2 (rows,columns) or 4 (top,bottom,left,right)"),
            std::string::npos);
}

// Around a number's frame alpha is 0; mirrors mirror it.
TEST(Impad, AlphaIsFramedToo) {
  HostImage image = test::test_image(PixelClass::uint8, 3, {5, 4}, 5);
  image.type.alpha = true;
  image.alpha = test::test_image(PixelClass::uint8, 1, {5, 4}, 6).planes.front();
  HostImage alpha({.cls = PixelClass::uint8}, {5, 4});
  alpha.planes = {image.alpha};
  const auto framed = [&](const std::string& text) {
    HostImage out({.cls = PixelClass::uint8}, {1, 1});
    out.planes = {run(text, image).image.alpha};
    return out;
  };
  EXPECT_EQ(test::difference(framed("impad 2 boundary=9"), run("impad 2", alpha).image), "");
  EXPECT_EQ(test::difference(framed("impad 2 symmetric"), run("impad 2 symmetric", alpha).image),
            "");
  EXPECT_EQ(test::difference(framed("imresize 1.7"), run("imresize 1.7", alpha).image), "");
  EXPECT_EQ(
      test::difference(framed("imwarp rotate=20 fill=9"), run("imwarp rotate=20", alpha).image),
      "");
}

// Integers may be off by what float32 sums are beyond a half: exact sums are often halfway between
// two codes.
void expect_resized(const HostImage& image, const std::string& arguments, Size size,
                    const std::string& method, double scale_rows, double scale_columns,
                    bool antialias = true) {
  Image exact = reference::from_host(image);
  exact.cls = PixelClass::single;
  exact = reference::resize(exact, static_cast<int>(size.height), static_cast<int>(size.width),
                            scale_rows, scale_columns, method, antialias);
  const Image got = reference::from_host(run("imresize " + arguments, image).image);
  const PixelClass cls = image.type.cls;
  ASSERT_EQ(got.cls, cls);
  ASSERT_EQ(got.rows, exact.rows);
  ASSERT_EQ(got.columns, exact.columns);
  const double largest = class_max(cls);
  const double half = cls == PixelClass::single ? 0 : 0.5;
  for (size_t i = 0; i < got.values.size(); ++i) {
    const double sum =
        cls == PixelClass::single ? exact.values[i] : std::clamp(exact.values[i], 0.0, largest);
    ASSERT_NEAR(got.values[i], sum, half + 4e-6 * largest)
        << arguments << " of " << test::describe(image) << ", value " << i;
  }
}

TEST(Imresize, IsTheSumOfTheDefinition) {
  std::uint64_t seed = 90;
  for (const PixelClass cls : classes) {
    for (const int channels : {1, 3}) {
      for (const Size size : sizes) {
        const HostImage image = test::test_image(cls, channels, size, ++seed);
        for (const double scale : {0.01, 0.3, 0.5, 0.77, 1.0, 1.3, 2.0, 5.5}) {
          for (const std::string method : {"nearest", "bilinear", "bicubic"}) {
            const Size to{static_cast<int>(std::ceil(scale * static_cast<double>(size.width))),
                          static_cast<int>(std::ceil(scale * static_cast<double>(size.height)))};
            const std::string text = number_text(scale) + " " + method;
            expect_resized(image, text, to, method, scale, scale);
            if (scale < 1) {
              expect_resized(image, text + " antialiasing=off", to, method, scale, scale, false);
            }
          }
        }
      }
    }
  }
}

TEST(Imresize, ToASize) {
  const HostImage image = test::test_image(PixelClass::uint8, 3, {64, 33}, 7);
  expect_resized(image, "size=20,25", {25, 20}, "bicubic", 20 / 33.0, 25 / 64.0);
  expect_resized(image, "size=66,10", {10, 66}, "bicubic", 66 / 33.0, 10 / 64.0);
  expect_resized(image, "size=33,7 bilinear", {7, 33}, "bilinear", 1, 7 / 64.0);
  expect_resized(image, "0.5,2", {128, 17}, "bicubic", 0.5, 2);
  // One of the two is 0: the other's scale, ceil(64 * 20 / 33) and ceil(33 * 80 / 64).
  expect_resized(image, "size=20,0", {39, 20}, "bicubic", 20 / 33.0, 20 / 33.0);
  expect_resized(image, "size=0,80", {80, 42}, "bicubic", 80 / 64.0, 80 / 64.0);
  EXPECT_NE(test::error_of("imresize size=0,0", image).find("one of the two must be above 0"),
            std::string::npos);
  EXPECT_NE(test::error_of("imresize 2 size=3,3", image)
                .find("it needs either a scale, size=rows,columns or fit=width,height"),
            std::string::npos);
}

TEST(Impad, ThenCroppedIsTheImage) {
  const HostImage image = test::test_image(PixelClass::single, 3, {64, 33}, 7);
  for (const std::string rule : {"boundary=3", "replicate", "symmetric", "reflect", "circular"}) {
    EXPECT_EQ(test::difference(
                  image, run("impad 5,60,130,2 " + rule + " | imcrop 130,5,64,33", image).image),
              "")
        << rule;
  }
}

TEST(Imresize, AHundredTimesAndBack) {
  const HostImage image = test::test_image(PixelClass::uint16, 1, {9, 7}, 17);
  expect_resized(image, "100", {900, 700}, "bicubic", 100, 100);
  EXPECT_EQ(
      test::difference(image, run("imresize 100 nearest | imresize 0.01 nearest", image).image),
      "");
}

// The map that leads from output to input, where both are counted from the centres.
std::vector<double> rotation(double degrees, Size from, Size to) {
  const double angle = degrees * std::numbers::pi / 180, c = std::cos(angle), s = std::sin(angle);
  const double u = (static_cast<double>(to.width) - 1) / 2,
               v = (static_cast<double>(to.height) - 1) / 2;
  const double x = (static_cast<double>(from.width) - 1) / 2;
  const double y = (static_cast<double>(from.height) - 1) / 2;
  return {c, -s, x - c * u + s * v, s, c, y - s * u - c * v};
}

TEST(Imwarp, IsTheValueWhereTheMapLeadsFrom) {
  std::uint64_t seed = 190;
  for (const PixelClass cls : classes) {
    for (const int channels : {1, 3}) {
      for (const Size size : sizes) {
        const HostImage image = test::test_image(cls, channels, size, ++seed);
        const Image a = reference::from_host(image);
        for (const bool nearest : {false, true}) {
          const std::string method = nearest ? " nearest" : "";
          // 37 degrees: no place falls on the border between two pixels.
          EXPECT_EQ(
              test::difference(
                  reference::warp(a, a.rows, a.columns, rotation(37, size, size), nearest, 3),
                  run("imwarp rotate=37 fill=3" + method, image).image, tolerance_of(cls), 0.01),
              "")
              << method << test::describe(image);
          // The inverse of [2 0.5 3.1; 0 -1.5 20.3] is [1/2 1/6 -29.6/6; 0 -2/3 40.6/3].
          EXPECT_EQ(test::difference(
                        reference::warp(a, 40, 30, {0.5, 1 / 6.0, -29.6 / 6, 0, -2 / 3.0, 40.6 / 3},
                                        nearest, 0),
                        run("imwarp [2 0.5 3.1; 0 -1.5 20.3] size=40,30" + method, image).image,
                        tolerance_of(cls), 0.01),
                    "")
              << method << test::describe(image);
        }
      }
    }
  }
}

TEST(Imwarp, SaysWhatIsWrong) {
  const HostImage image = test::test_image(PixelClass::uint8, 1, {31, 17}, 5);
  EXPECT_NE(test::error_of("imwarp", image)
                .find("it needs either a matrix, or some of rotate, scale and translate"),
            std::string::npos);
  EXPECT_NE(test::error_of("imwarp [1 2; 3 4]", image)
                .find("a matrix of 2 or 3 rows and 3 columns is needed"),
            std::string::npos);
  EXPECT_NE(test::error_of("imwarp [1 2 3; 2 4 5; 0 0 1] view=full size=3,4", image)
                .find("the size of view=full follows from the map"),
            std::string::npos);
  EXPECT_NE(test::error_of("imwarp [1 2 3; 2 4 5]", image).find("the matrix has no inverse"),
            std::string::npos);
}

// A window that shows nothing of the image, behind a point that is fused with it.
TEST(Imtranslate, BeyondTheImageIsAllFill) {
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    const HostImage image = test::test_image(cls, 1, {17, 5}, 3);
    for (const char* by : {"40,0", "-17,0", "0,5", "3,-9", "30.5,-8.25"}) {
      const HostImage moved =
          run("imcomplement | imtranslate " + std::string(by) + " fill=1", image).image;
      for (const double v : reference::from_host(moved).values) EXPECT_EQ(v, 1) << by;
    }
  }
}

TEST(Imcrop, TakesMatlabsRectangles) {
  const HostImage image = test::test_image(PixelClass::uint8, 1, {31, 17}, 4);
  EXPECT_EQ(test::difference(run("imcrop 3,1,9,6", image).image,
                             run("imcrop 4,2,8,5 origin=1", image).image),
            "");
  // round(2.5) to round(2.5 + 4): four pixels of a bounding box become five.
  EXPECT_EQ(run("imcrop 2.5,2.5,4,4 origin=1", image).image.size(), (Size{5, 5}));
}

TEST(Imresize, FitsIntoABox) {
  struct {
    Size from;
    const char* box;
    Size to;
  } cases[] = {{{40, 30}, "20,20", {20, 15}}, {{30, 40}, "20,20", {15, 20}},
               {{40, 30}, "100,9", {12, 9}},  {{7, 7}, "3,4", {3, 3}},
               {{1, 50}, "9,10", {1, 10}},    {{31, 17}, "62,35", {62, 34}}};
  for (const auto& c : cases) {
    const HostImage image = test::test_image(PixelClass::uint8, 1, c.from, 4);
    EXPECT_EQ(run("imresize fit=" + std::string(c.box), image).image.size(), c.to) << c.box;
  }
  const HostImage image = test::test_image(PixelClass::uint8, 3, {40, 30}, 4);
  EXPECT_EQ(test::difference(run("imresize size=0,20", image).image,
                             run("imresize fit=20,20", image).image),
            "");
  EXPECT_NE(test::error_of("imresize 0.5 fit=20,20", image)
                .find("imresize: it needs either a scale, size=rows,columns or fit=width,height"),
            std::string::npos);
}

TEST(Imresize, FitsIntoABoxInOneDirectionOnly) {
  struct {
    Size from;
    const char* box;
    Size shrunk, enlarged;
  } cases[] = {{{40, 30}, "20,20", {20, 15}, {40, 30}}, {{30, 40}, "20,20", {15, 20}, {30, 40}},
               {{40, 30}, "40,30", {40, 30}, {40, 30}}, {{40, 30}, "80,50", {40, 30}, {67, 50}},
               {{40, 30}, "80,9", {12, 9}, {40, 30}},   {{40, 30}, "39,90", {39, 30}, {40, 30}},
               {{1, 50}, "9,100", {1, 50}, {2, 100}}};
  for (const auto& c : cases) {
    const HostImage image = test::test_image(PixelClass::uint8, 3, c.from, 4);
    const std::string fit = "imresize fit=" + std::string(c.box);
    const HostImage fitted = run(fit, image).image;
    const HostImage shrunk = run(fit + " only=shrink", image).image;
    const HostImage enlarged = run(fit + " only=enlarge", image).image;
    EXPECT_EQ(shrunk.size(), c.shrunk) << c.box;
    EXPECT_EQ(enlarged.size(), c.enlarged) << c.box;
    // One of the two is the image itself, the other what fit alone makes.
    EXPECT_EQ(test::difference(c.shrunk == c.from ? image : fitted, shrunk), "") << c.box;
    EXPECT_EQ(test::difference(c.enlarged == c.from ? image : fitted, enlarged), "") << c.box;
  }
  const HostImage image = test::test_image(PixelClass::uint8, 1, {40, 30}, 4);
  EXPECT_NE(test::error_of("imresize 0.5 only=shrink", image)
                .find("imresize: only goes with a box, as in fit=1920,1080 only=shrink"),
            std::string::npos);
}

TEST(Circshift, TurnsAsOftenAsItLikes) {
  const HostImage image = test::test_image(PixelClass::uint16, 3, {31, 17}, 4);
  EXPECT_EQ(test::difference(image, run("circshift 17,-62", image).image), "");
  EXPECT_EQ(test::difference(run("circshift 3,-2", image).image,
                             run("circshift 3 | circshift 0,-2", image).image),
            "");
}

}  // namespace
}  // namespace impipe
