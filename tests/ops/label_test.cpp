// Connected components, regional extrema, reconstruction and canny against naive references.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "support/pipeline_runner.hpp"
#include "support/reference/label.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

using reference::Image;
using test::run;

constexpr PixelClass classes[] = {PixelClass::logical, PixelClass::uint8, PixelClass::uint16,
                                  PixelClass::single};
// Either side of words of bits, vectors and strips of rows.
constexpr Size sizes[] = {{1, 1},   {1, 70},  {70, 1},   {2, 2},    {31, 32},   {32, 31}, {33, 63},
                          {63, 33}, {64, 65}, {65, 127}, {129, 64}, {128, 129}, {257, 40}};

// A corridor of 1 between walls of 0 that winds to the middle, `pitch` pixels from turn to turn.
Image spiral(int rows, int columns, int pitch) {
  Image image(PixelClass::logical, 1, rows, columns, 1);
  int top = 0, left = 0, bottom = rows - 1, right = columns - 1;
  int r = 0, c = 0;
  const auto go = [&](int to_r, int to_c) {
    while (true) {
      image.at(r, c) = 1;
      if (r == to_r && c == to_c) return;
      r += (to_r > r) - (to_r < r);
      c += (to_c > c) - (to_c < c);
    }
  };
  while (top <= bottom && left <= right) {
    go(top, right);
    top += pitch;
    if (top > bottom + pitch - 1) break;
    go(bottom, right);
    right -= pitch;
    if (left > right) break;
    go(bottom, left);
    bottom -= pitch;
    if (top > bottom) break;
    go(top, left);
    left += pitch;
    if (left > right) break;
  }
  return image;
}

Image drawn(int rows, int columns, const std::function<double(int, int)>& value) {
  Image image(PixelClass::logical, 1, rows, columns, 1);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) image.at(r, c) = value(r, c);
  }
  return image;
}

Image scattered(int rows, int columns, double part, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform;
  return drawn(rows, columns, [&](int, int) { return uniform(random) < part; });
}

// Contents that components are hard or easy to find in.
std::vector<Image> contents(Size size, std::uint64_t seed) {
  const int rows = static_cast<int>(size.height), columns = static_cast<int>(size.width);
  std::vector<Image> out = {
      spiral(rows, columns, 2),
      spiral(rows, columns, 4),
      drawn(rows, columns, [](int r, int c) { return (r + c) % 2; }),
      drawn(rows, columns, [](int, int) { return 1; }),
      drawn(rows, columns, [](int, int) { return 0; }),
      drawn(rows, columns, [](int r, int c) { return r % 2 == 0 || c % 7 == 0; }),  // combs
      drawn(rows, columns, [](int r, int c) { return c % 2 == 0 || (r == 0 && c % 4 == 1); })};
  for (const double part : {0.05, 0.3, 0.4, 0.5, 0.59, 0.7, 0.95}) {
    out.push_back(scattered(rows, columns, part, ++seed));
  }
  return out;
}

Image row_of(std::vector<double> values, PixelClass cls = PixelClass::single) {
  Image image(cls, 1, 1, static_cast<int>(values.size()), 1);
  image.values = std::move(values);
  return image;
}

std::string with(const std::string& name, int conn) { return name + " " + std::to_string(conn); }

void expect_same(const Image& expected, const std::string& text, const Image& image) {
  const HostImage host = reference::to_host(image);
  EXPECT_EQ(test::difference(expected, run(text, host).image), "")
      << text << " of " << test::describe(host);
}

TEST(Bwlabel, IsTheFloodOnEverySizeAndContent) {
  std::uint64_t seed = 1;
  for (const Size size : sizes) {
    for (const Image& image : contents(size, seed += 100)) {
      for (const int conn : {4, 8}) {
        expect_same(reference::bwlabel(image, conn), with("bwlabel", conn), image);
      }
    }
  }
}

TEST(Bwlabel, OnALargeImage) {
  for (const Image& image : {scattered(1025, 1023, 0.5, 3), spiral(1025, 1025, 2)}) {
    for (const int conn : {4, 8}) {
      expect_same(reference::bwlabel(image, conn), with("bwlabel", conn), image);
    }
  }
}

// Down the columns, from left to right, and not in the order of rows.
TEST(Bwlabel, NumbersInColumnMajorOrder) {
  Image image(PixelClass::logical, 1, 3, 4, 1);
  image.at(0, 2) = image.at(2, 0) = image.at(0, 0) = image.at(2, 3) = 1;
  const HostImage made = run("bwlabel 4", reference::to_host(image)).image;
  EXPECT_EQ(reference::from_host(made).values,
            (std::vector<double>{1, 0, 3, 0, 0, 0, 0, 0, 2, 0, 0, 4}));
  EXPECT_EQ(made.type.white, 0);
}

TEST(Bwlabel, AnyClassAndNotZeroIsSet) {
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    Image image = scattered(70, 50, 0.4, 8);
    image.cls = cls;
    image.white = class_max(cls);
    const double value = cls == PixelClass::single ? -0.25 : cls == PixelClass::uint16 ? 256 : 2;
    for (double& v : image.values) v *= value;
    expect_same(reference::bwlabel(image, 8), "bwlabel", image);
    expect_same(reference::bwareaopen(image, 4, 4), "bwareaopen 4 4", image);
  }
}

// 2^24 numbers and one more: single pixels in every other row and column.
TEST(Bwlabel, MoreComponentsThanSingleCountsAreAnError) {
  const auto dots = [](Size size) {
    HostImage image({PixelClass::logical, 1, false, 1}, size);
    for (std::int64_t y = 0; y < size.height; ++y) {
      std::uint8_t* row = image.planes.front().row_as<std::uint8_t>(y);
      for (std::int64_t x = 0; x < size.width; ++x) row[x] = x % 2 == 0 && y % 2 == 0;
    }
    return image;
  };
  EXPECT_EQ(run("bwlabel | max", dots({8192, 8192})).columns, (std::vector<double>{16777216}));
  EXPECT_EQ(test::error_of("bwlabel", dots({8193, 8191})),
            "bwlabel: there are 16781312 components; single counts to 16777216 only");
}

TEST(Bwareaopen, IsTheFlood) {
  std::uint64_t seed = 2;
  for (const Size size : {Size{31, 33}, Size{130, 70}, Size{1, 50}}) {
    for (const Image& image : contents(size, seed += 100)) {
      for (const int conn : {4, 8}) {
        for (const int least : {0, 1, 2, 9, 100, 100000}) {
          expect_same(reference::bwareaopen(image, least, conn),
                      "bwareaopen " + std::to_string(least) + " " + std::to_string(conn), image);
        }
      }
    }
  }
}

TEST(Imfill, IsTheFloodFromTheBorder) {
  std::uint64_t seed = 3;
  for (const Size size : sizes) {
    for (const Image& image : contents(size, seed += 100)) {
      for (const int conn : {4, 8}) {
        expect_same(reference::imfill(image, conn), with("imfill holes", conn), image);
      }
    }
  }
}

TEST(Imfill, RaisesGrayBasinsToTheirBrim) {
  std::uint64_t seed = 40;
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Size size : {Size{1, 1}, Size{40, 1}, Size{31, 33}, Size{70, 140}}) {
      const HostImage host = test::test_image(cls, 1, size, ++seed);
      const Image image = reference::from_host(host);
      for (const int conn : {4, 8}) {
        expect_same(reference::imfill(image, conn), with("imfill holes", conn), image);
      }
    }
  }
}

TEST(Imreconstruct, IsRepeatedDilationUnderTheMask) {
  std::uint64_t seed = 60;
  for (const PixelClass cls : classes) {
    for (const Size size : {Size{1, 1}, Size{1, 40}, Size{70, 1}, Size{33, 31}, Size{64, 260}}) {
      const HostImage mask = test::test_image(cls, 1, size, ++seed);
      HostImage marker = test::test_image(cls, 1, size, ++seed);
      Image sparse = reference::from_host(marker);
      std::mt19937_64 random(seed);
      for (double& v : sparse.values)
        v = random() % 37 == 0 ? v : cls == PixelClass::single ? -9 : 0;
      marker = reference::to_host(sparse);
      for (const int conn : {4, 8}) {
        const Image expected = reference::imreconstruct(sparse, reference::from_host(mask), conn);
        EXPECT_EQ(test::difference(
                      expected, run(with("imreconstruct :m", conn), marker, {{"m", mask}}).image),
                  "")
            << conn << " " << test::describe(mask);
      }
    }
  }
}

// A value that winds through a spiral corridor, falling on its way.
TEST(Imreconstruct, GoesThroughASpiral) {
  for (const PixelClass cls : classes) {
    Image mask = spiral(35, 67, 2);
    mask.cls = cls;
    mask.white = class_max(cls);
    std::mt19937_64 random(5);
    for (double& v : mask.values) {
      v *= cls == PixelClass::logical  ? 1
           : cls == PixelClass::single ? 0.5 + random() % 8 / 16.0
                                       : 100.0 + random() % 100;
    }
    Image marker = mask;
    for (size_t i = 1; i < marker.values.size(); ++i) marker.values[i] = 0;
    for (const int conn : {4, 8}) {
      EXPECT_EQ(test::difference(reference::imreconstruct(marker, mask, conn),
                                 run(with("imreconstruct :m", conn), reference::to_host(marker),
                                     {{"m", reference::to_host(mask)}})
                                     .image),
                "")
          << name_of(cls) << " " << conn;
    }
  }
}

// The mask of a colour image goes through rgb2gray as the marker does; other classes are an error.
TEST(Imreconstruct, TakesAMaskOfTheMarkersKind) {
  const HostImage mask = test::test_image(PixelClass::uint8, 3, {40, 30}, 5);
  const HostImage marker = test::test_image(PixelClass::uint8, 3, {40, 30}, 6);
  const HostImage gray = run("rgb2gray", mask).image;
  EXPECT_EQ(test::difference(run("rgb2gray | imreconstruct :m", marker, {{"m", gray}}).image,
                             run("imreconstruct :m", marker, {{"m", mask}}).image),
            "");
  EXPECT_EQ(
      test::error_of("imreconstruct :m", gray,
                     {{"m", test::test_image(PixelClass::uint16, 1, {40, 30}, 7)}}),
      "pipeline:1:15: imreconstruct: the marker is uint8 x1, white 255, the mask is uint16 x1, "
      "white 65535\n  imreconstruct :m\n                ^^");
}

TEST(Imregional, IsTheFloodOnEverySizeAndClass) {
  std::uint64_t seed = 80;
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Size size : sizes) {
      const HostImage host = test::test_image(cls, 1, size, ++seed);
      Image image = reference::from_host(host), few = image;
      for (double& v : few.values) v = std::floor(v / image.white * 4) * image.white / 4;
      for (const Image& a : {image, few}) {
        for (const int conn : {4, 8}) {
          expect_same(reference::imregional(a, true, conn), with("imregionalmax", conn), a);
          expect_same(reference::imregional(a, false, conn), with("imregionalmin", conn), a);
          expect_same(reference::imregional_strict(a, true, conn),
                      with("imregionalmax strict", conn), a);
          expect_same(reference::imregional_strict(a, false, conn),
                      with("imregionalmin strict", conn), a);
        }
      }
    }
  }
}

// NaN exceeds nothing and is no way for what spreads; there it stays NaN.
TEST(Imregional, NanExceedsNothing) {
  const double nan = std::nan("");
  const Image image = row_of({1, nan, 3, 2, nan, nan, 2, 0, 2});
  expect_same(row_of({1, 0, 1, 0, 0, 0, 1, 0, 1}, PixelClass::logical), "imregionalmax", image);
  expect_same(row_of({1, 0, 0, 1, 0, 0, 0, 1, 0}, PixelClass::logical), "imregionalmin", image);
}

TEST(Imreconstruct, NanIsAWall) {
  const double nan = std::nan("");
  const Image mask = row_of({5, 5, nan, 5, 9, nan, 4, 1});
  const std::map<std::string, HostImage> named = {{"m", reference::to_host(mask)}};
  const auto found = [&](std::vector<double> marker) {
    return run("imreconstruct :m", reference::to_host(row_of(std::move(marker))), named).image;
  };
  const HostImage spread = found({3, nan, 9, 0, nan, 9, 0, 0});
  EXPECT_EQ(test::difference(row_of({3, 3, nan, 0, 0, nan, 0, 0}), spread), "");
  // A hole behind NaN is one that the border does not reach.
  expect_same(row_of({5, 5, nan, 5, 9, nan, 4, 1}), "imfill", mask);
}

// Plateaus of every shape, one of whose pixels may have a larger neighbour far away.
TEST(Imregional, OfPlateausThatWind) {
  std::uint64_t seed = 5;
  for (const Size size : sizes) {
    for (Image image : contents(size, seed += 100)) {
      image.cls = PixelClass::uint8;
      image.white = 255;
      for (double& v : image.values) v = 100 + 50 * v;
      for (const double other : {100.0, 200.0}) {
        image.values[image.values.size() * 2 / 3] = other;
        for (const int conn : {4, 8}) {
          expect_same(reference::imregional(image, true, conn), with("imregionalmax", conn), image);
          expect_same(reference::imregional(image, false, conn), with("imregionalmin", conn),
                      image);
        }
      }
    }
  }
}

// Octave's rule: a mask is its own maxima, even when nothing is set.
TEST(Imregional, OfLogicalImages) {
  for (const double part : {0.0, 0.5, 1.0}) {
    const HostImage image = reference::to_host(scattered(20, 30, part, 9));
    EXPECT_EQ(test::difference(image, run("imregionalmax", image).image), "");
    EXPECT_EQ(test::difference(run("imcomplement", image).image, run("imregionalmin", image).image),
              "");
  }
}

TEST(Imregional, KnowsInfinities) {
  const HostImage host = reference::to_host([] {
    Image image(PixelClass::single, 1, 2, 5, 1);
    const double inf = HUGE_VAL;
    image.values = {-inf, -inf, 0, inf, inf, -inf, -inf, -inf, -inf, inf};
    return image;
  }());
  EXPECT_EQ(reference::from_host(run("imregionalmax", host).image).values,
            (std::vector<double>{0, 0, 0, 1, 1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(reference::from_host(run("imregionalmin", host).image).values,
            (std::vector<double>{1, 1, 0, 0, 0, 1, 1, 1, 1, 0}));
}

TEST(LabelLaws, HoldOnRandomImages) {
  std::uint64_t seed = 200;
  for (const Size size : {Size{97, 61}, Size{300, 210}}) {
    const HostImage gray =
        run("imadd 1", test::test_image(PixelClass::uint8, 1, size, ++seed)).image;
    const auto same = [&](const std::string& a, const std::string& b, const HostImage& image) {
      EXPECT_EQ(test::difference(run(a, image).image, run(b, image).image), "")
          << a << " and " << b;
    };
    same("imregionalmax", "imcomplement | imregionalmin", gray);
    same("transpose | imregionalmax 4 | transpose", "imregionalmax 4", gray);
    // A regional maximum is what can't be reached from one less.
    EXPECT_EQ(test::difference(run("imsubtract 1 | imreconstruct :a | imabsdiff :a | im2bw 0", gray,
                                   {{"a", gray}})
                                   .image,
                               run("imregionalmax", gray).image),
              "");
    const HostImage bits = run("im2bw 0.4", gray).image;
    same("bwlabel | map 'x > 0' class=logical", "im2bw", bits);
    same("bwareaopen 1", "im2bw", bits);
    same("imfill | imfill", "imfill", bits);
    same("bwareaopen 9 | bwareaopen 9", "bwareaopen 9", bits);
    same("im2uint8 | imfill | im2bw", "imfill", bits);
    same("flipud | bwareaopen 7 4 | flipud", "bwareaopen 7 4", bits);
  }
}

TEST(Canny, IsTheDefinition) {
  std::uint64_t seed = 300;
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Size size : {Size{1, 1}, Size{2, 9}, Size{40, 3}, Size{130, 97}, Size{257, 190}}) {
      const HostImage host = test::test_image(cls, 1, size, ++seed);
      const Image image = reference::from_host(host);
      for (const double sigma : {0.7, std::sqrt(2.0), 2.5}) {
        const std::string text = "edge canny sigma=" + std::to_string(sigma);
        const double s = std::stod(std::to_string(sigma));
        // Float32 decides otherwise at a few pixels, and edges that hang on them.
        EXPECT_EQ(test::difference(reference::canny(image, {}, s), run(text, host).image, 0, 0.003),
                  "")
            << text << " " << test::describe(host);
        EXPECT_EQ(test::difference(reference::canny(image, {0.2}, s),
                                   run(text + " thresh=0.2", host).image, 0, 0.003),
                  "");
        EXPECT_EQ(test::difference(reference::canny(image, {0.1, 0.4}, s),
                                   run(text + " thresh=0.1,0.4", host).image, 0, 0.003),
                  "");
      }
    }
  }
}

// An edge that winds through a large image from one strong place.
TEST(Canny, FollowsAWeakEdgeToItsEnd) {
  Image image = spiral(400, 500, 40);
  image.cls = PixelClass::uint8;
  image.white = 255;
  for (int r = 0; r < image.rows; ++r) {
    for (int c = 0; c < image.columns; ++c) image.at(r, c) *= r < 3 && c < 40 ? 250 : 60;
  }
  const HostImage host = run("imdilate square,15", reference::to_host(image)).image;
  const Image wide = reference::from_host(host);
  const Image expected = reference::canny(wide, {0.05, 0.8}, 1);
  EXPECT_EQ(test::difference(expected, run("edge canny 0.05,0.8 sigma=1", host).image, 0, 0.002),
            "");
}

TEST(Canny, FindsNothingInAConstantImage) {
  const HostImage flat = reference::to_host([] {
    Image image(PixelClass::uint8, 255, 30, 40, 1);
    for (double& v : image.values) v = 77;
    return image;
  }());
  EXPECT_EQ(run("edge canny | map 'x' class=uint8 | sum", flat).columns, (std::vector<double>{0}));
}

TEST(LabelMistakes, AreSaidInFull) {
  const HostImage image = test::test_image(PixelClass::uint8, 1, {20, 20}, 1);
  EXPECT_EQ(test::error_of("imregionalmax 6", image),
            "pipeline:1:15: imregionalmax: conn is 4 or 8\n  imregionalmax 6\n                ^");
  EXPECT_EQ(test::error_of("edge sobel 0.1,0.2", image),
            "pipeline:1:12: edge: two thresholds go with canny only\n  edge sobel 0.1,0.2\n"
            "             ^^^^^^^");
}

}  // namespace
}  // namespace impipe
