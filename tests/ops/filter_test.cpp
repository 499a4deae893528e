// Filters, edges, morphology and order statistics against naive references.
#include <gtest/gtest.h>

#include <functional>
#include <span>

#include "support/pipeline_runner.hpp"
#include "support/reference/filter.hpp"
#include "support/reference/point.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

using reference::Image;
using reference::Outside;
using test::run;

constexpr PixelClass logical = PixelClass::logical, uint8 = PixelClass::uint8,
                     uint16 = PixelClass::uint16, single = PixelClass::single;
const Size sizes[] = {{1, 1}, {17, 1}, {1, 13}, {2, 3}, {31, 17}, {70, 45}};

// The weights of a kernel in units of white bound what float32 sums can be off.
constexpr double float_error = 2e-6;

struct Row {
  const char* text;
  std::vector<PixelClass> classes;
  std::function<Image(const Image&)> expected;
  double scale = 1;    // sum of |weights|, for the tolerance of single results
  double allowed = 0;  // part of the pixels that may be at a tie
};

Matrix ones(int rows, int columns, double value = 1) {
  return {rows, columns, std::vector<double>(static_cast<size_t>(rows) * columns, value)};
}

Matrix gaussian(int n, double sigma) {
  Matrix m{n, n, {}};
  double sum = 0;
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < n; ++c) {
      const double d = std::pow(r - (n - 1) / 2.0, 2) + std::pow(c - (n - 1) / 2.0, 2);
      m.values.push_back(std::exp(-d / (2 * sigma * sigma)));
      sum += m.values.back();
    }
  }
  for (double& v : m.values) v /= sum;
  return m;
}

Matrix disk(int radius) {
  Matrix m{2 * radius + 1, 2 * radius + 1, {}};
  for (int y = -radius; y <= radius; ++y) {
    for (int x = -radius; x <= radius; ++x) m.values.push_back(x * x + y * y <= radius * radius);
  }
  return m;
}

const Matrix skewed{3, 3, {1, 2, 3, 0, -1, 0, 0, 0, -4}};
const Matrix even{2, 4, {1, 2, 0, -1, 0.5, 0, 1, 2}};
const Matrix corner{3, 3, {1, 0, 0, 0, 1, 0, 0, 1, 1}};
const Matrix stairs{2, 4, {1, 1, 0, 0, 0, 1, 1, 1}};
const Matrix sobel{3, 3, {1, 2, 1, 0, 0, 0, -1, -2, -1}};

std::function<Image(const Image&)> conv2(const Matrix& kernel, const char* shape = "same") {
  return [=](const Image& a) { return reference::conv2(a, kernel, shape); };
}
std::function<Image(const Image&)> imfilter(const Matrix& kernel, Outside outside = {},
                                            bool conv = false, bool full = false) {
  return [=](const Image& a) { return reference::imfilter(a, kernel, outside, conv, full); };
}
std::function<Image(const Image&)> gradient(const char* method, bool direction = false) {
  return [=](const Image& a) { return reference::imgradient(a, method, direction); };
}
std::function<Image(const Image&)> edges(const reference::EdgeOptions& options) {
  return [=](const Image& a) { return reference::edge(reference::rgb2gray(a), options); };
}

const std::vector<PixelClass> all{logical, uint8, uint16, single};
const std::vector<PixelClass> numbers{uint8, uint16, single};

void check(std::span<const Row> rows, std::span<const Size> of_sizes = sizes) {
  std::uint64_t seed = 1000;
  for (const Row& row : rows) {
    for (const PixelClass cls : row.classes) {
      for (const int channels : {1, 3}) {
        for (const Size size : of_sizes) {
          const HostImage image = test::test_image(cls, channels, size, ++seed);
          const Image expected = row.expected(reference::from_host(image));
          const double white = expected.white != 0 ? expected.white : 1;
          const double tolerance = expected.cls == single ? float_error * row.scale * white : 0;
          EXPECT_EQ(test::difference(expected, run(row.text, image).image, tolerance, row.allowed),
                    "")
              << row.text << " on " << test::describe(image);
        }
      }
    }
  }
}

TEST(Conv2, AgreesWithItsDefinition) {
  const Row rows[] = {
      {"conv2 k7", all, conv2(gaussian(7, 7 / 6.0))},
      {"conv2 k4", numbers, conv2(gaussian(4, 4 / 6.0))},
      {"conv2 average k5", numbers, conv2(ones(5, 5, 1 / 25.0))},
      {"conv2 [1 2 3; 0 -1 0; 0 0 -4]", all, conv2(skewed), 11},
      {"conv2 [1 2 0 -1; .5 0 1 2]", numbers, conv2(even), 7.5},
      {"conv2 [1 2 0 -1; .5 0 1 2] full", numbers, conv2(even, "full"), 7.5},
      {"conv2 fspecial:gaussian,5,1.2 full", numbers, conv2(gaussian(5, 1.2), "full")},
      {"conv2 fspecial:sobel", numbers, conv2(sobel), 8},
      {"conv2 [1;0;-1]", numbers, conv2({3, 1, {1, 0, -1}}), 2},
      {"conv2 [3]", numbers, conv2({1, 1, {3}}), 3},
      {"conv2 average,9,15", {uint8}, conv2(ones(9, 15, 1 / 135.0))},
  };
  check(rows);
  const Size large_enough[] = {{31, 17}, {70, 45}, {5, 5}};
  const Row valid[] = {
      {"conv2 [1 2 0 -1; .5 0 1 2] valid", numbers, conv2(even, "valid"), 7.5},
      {"conv2 fspecial:gaussian,5,1.2 valid", numbers, conv2(gaussian(5, 1.2), "valid")},
  };
  check(valid, large_enough);
}

// semantics 9: a NaN under a weight of 0 does not reach the result.
TEST(Conv2, ZeroWeightsReadNothing) {
  for (const Size size : sizes) {
    const HostImage image = test::test_image_with_specials(1, size, 5);
    const Image a = reference::from_host(image);
    EXPECT_EQ(test::difference(reference::conv2(a, skewed, "same"),
                               run("conv2 [1 2 3; 0 -1 0; 0 0 -4]", image).image, 1e-5),
              "");
    EXPECT_EQ(test::difference(reference::conv2(a, sobel, "same"),
                               run("conv2 fspecial:sobel", image).image, 1e-5),
              "");
    EXPECT_EQ(test::difference(reference::conv2(a, ones(2, 2, 0), "same"),
                               run("conv2 [0 0; 0 0]", image).image),
              "");
  }
}

TEST(Imfilter, AgreesWithItsDefinition) {
  const Matrix eighths{3, 3, {1, 2, 1, 2, 4, 2, 1, 2, 1}};
  Matrix smooth = eighths;
  for (double& v : smooth.values) v /= 16;
  const Row rows[] = {
      {"imfilter fspecial:average,3", all, imfilter(ones(3, 3, 1 / 9.0))},
      {"imfilter [1 2 1; 2 4 2; 1 2 1]/16 symmetric", all, imfilter(smooth, {"symmetric"})},
      {"imfilter [1 2 1; 2 4 2; 1 2 1]/16 circular", all, imfilter(smooth, {"circular"})},
      {"imfilter [1 2 1; 2 4 2; 1 2 1]/16 boundary=77.5", numbers,
       imfilter(smooth, {"constant", 77.5}), 78},
      {"imfilter [1 2 3; 0 -1 0; 0 0 -4] replicate", all, imfilter(skewed, {"replicate"}), 11},
      {"imfilter [1 2 3; 0 -1 0; 0 0 -4] symmetric conv", all,
       imfilter(skewed, {"symmetric"}, true), 11},
      {"imfilter [1 2 3; 0 -1 0; 0 0 -4] circular", all, imfilter(skewed, {"circular"}), 11},
      {"imfilter [1 2 0 -1; .5 0 1 2] 3", numbers, imfilter(even, {"constant", 3}), 7.5 * 4},
      {"imfilter [1 2 0 -1; .5 0 1 2] conv", numbers, imfilter(even, {}, true), 7.5},
      {"imfilter [1 2 0 -1; .5 0 1 2] size=full replicate", numbers,
       imfilter(even, {"replicate"}, false, true), 7.5},
      {"imfilter [1 2 1; 2 4 2; 1 2 1]/16 full symmetric", numbers,
       imfilter(smooth, {"symmetric"}, false, true)},
      {"imfilter fspecial:sobel replicate", all, imfilter(sobel, {"replicate"}), 8},
      {"imfilter [1 1 1 1 1 1 1 1 1] symmetric", {uint8}, imfilter(ones(1, 9), {"symmetric"}), 9},
  };
  check(rows);
}

TEST(Imgaussfilt, IsImfilterWithAGaussian) {
  const Row rows[] = {
      {"imgaussfilt", numbers, imfilter(gaussian(3, 0.5), {"replicate"}), 1, 0.02},
      {"imgaussfilt 1.4", numbers, imfilter(gaussian(7, 1.4), {"replicate"}), 1, 0.02},
      {"imgaussfilt s3", {uint8}, imfilter(gaussian(13, 3), {"replicate"}), 1, 0.002},
  };
  check(rows);
}

TEST(Imgradient, AgreesWithItsDefinition) {
  const Row rows[] = {
      {"imgradient", all, gradient("sobel"), 8},
      {"imgradient prewitt", all, gradient("prewitt"), 6},
      {"imgradient central", numbers, gradient("central"), 2},
      {"imgradient intermediate", numbers, gradient("intermediate"), 2},
      {"imgradient roberts", numbers, gradient("roberts"), 2},
      {"imgradient central direction", {uint8}, gradient("central", true), 20},
      {"imgradient direction", {uint8}, gradient("sobel", true), 20},
  };
  check(rows);
}

TEST(Edge, Uint8IsExact) {
  std::vector<Row> rows;
  rows.push_back({"edge", {uint8}, edges({})});
  rows.push_back({"edge prewitt", {uint8}, edges({.method = "prewitt"})});
  rows.push_back({"edge roberts", {uint8}, edges({.method = "roberts"})});
  rows.push_back({"edge sobel 0.06 horizontal nothinning",
                  {uint8},
                  edges({.threshold = 0.06, .direction = "horizontal", .thinning = false})});
  rows.push_back({"edge prewitt vertical thresh=auto",
                  {uint8},
                  edges({.method = "prewitt", .direction = "vertical"})});
  rows.push_back({"edge roberts t0.1 thinning=0",
                  {uint8},
                  edges({.method = "roberts", .threshold = 0.1, .thinning = false})});
  rows.push_back({"edge prewitt t0", {uint8}, edges({.method = "prewitt", .threshold = 0})});
  rows.push_back({"edge sobel t10", {uint8}, edges({.threshold = 10})});
  check(rows);
}

// In float32 a few pixels at ties may fall on the other side.
TEST(Edge, OtherClassesAreFloat) {
  std::vector<Row> rows;
  for (const char* method : {"sobel", "prewitt", "roberts"}) {
    static std::vector<std::string> texts;
    texts.reserve(8);
    texts.push_back("edge " + std::string(method) + " nothinning");
    rows.push_back({texts.back().c_str(),
                    {uint16, single},
                    edges({.method = method, .thinning = false}),
                    1,
                    0.002});
  }
  rows.push_back({"edge log", {uint8, single}, edges({.method = "log"}), 1, 0.002});
  rows.push_back({"edge log sigma=1 t0.01",
                  {uint8, uint16},
                  edges({.method = "log", .threshold = 0.01, .sigma = 1}),
                  1,
                  0.002});
  const Size large[] = {{31, 17}, {70, 45}};
  check(rows, large);
}

TEST(Edge, AConstantImageHasNone) {
  for (const char* text : {"constant 0.3 size=20 | edge", "constant 0.3 size=20 | edge roberts",
                           "constant 0.3 size=20 | edge prewitt nothinning"}) {
    const Image got = reference::from_host(run(text).image);
    EXPECT_EQ(got.values, std::vector<double>(400, 0.0)) << text;
  }
}

TEST(Morphology, AgreesWithItsDefinition) {
  const auto dilate = [](const Matrix& e) {
    return [=](const Image& a) { return reference::imdilate(a, e); };
  };
  const auto erode = [](const Matrix& e) {
    return [=](const Image& a) { return reference::imerode(a, e); };
  };
  const auto open = [](const Image& a, const Matrix& e) {
    return reference::imdilate(reference::imerode(a, e), e);
  };
  const auto close = [](const Image& a, const Matrix& e) {
    return reference::imerode(reference::imdilate(a, e), e);
  };
  const Matrix line = reference::line_element(7, 20);
  const Row rows[] = {
      {"imdilate square,3", all, dilate(ones(3, 3))},
      {"imerode square,4", all, erode(ones(4, 4))},
      {"imdilate square,4", all, dilate(ones(4, 4))},
      {"imdilate rectangle,3,7", all, dilate(ones(3, 7))},
      {"imerode rectangle,1,31", {uint8, single}, erode(ones(1, 31))},
      {"imdilate square,31", {uint8, uint16}, dilate(ones(31, 31))},
      {"imdilate disk,3,0", all, dilate(disk(3))},
      {"imerode disk,5", all, erode(disk(5))},
      {"imdilate [1 0 0; 0 1 0; 0 1 1]", all, dilate(corner)},
      {"imerode [1 0 0; 0 1 0; 0 1 1]", all, erode(corner)},
      {"imdilate [1 1 0 0; 0 1 1 1]", all, dilate(stairs)},
      {"imerode se=[1 1 0 0; 0 1 1 1]", all, erode(stairs)},
      {"imdilate [1]", {uint8}, dilate(ones(1, 1))},
      {"imerode line,7,20", all, erode(line)},
      {"imopen line,7,20", all, [=](const Image& a) { return open(a, line); }},
      {"imclose diamond,2", all,
       [=](const Image& a) {
         return close(a, {5, 5, {0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1,
                                 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0}});
       }},
      {"imtophat square,7", all,
       [=](const Image& a) { return reference::difference(a, open(a, ones(7, 7))); }},
      {"imbothat rectangle,3,5", all,
       [=](const Image& a) { return reference::difference(close(a, ones(3, 5)), a); }},
      {"imgradmorph rectangle,3,7", all,
       [=](const Image& a) {
         return reference::difference(reference::imdilate(a, ones(3, 7)),
                                      reference::imerode(a, ones(3, 7)));
       }},
      {"imgradmorph [0 0 1]", all,  // the element leaves its origin out: differences saturate
       [=](const Image& a) {
         const Matrix e{1, 3, {0, 0, 1}};
         return reference::difference(reference::imdilate(a, e), reference::imerode(a, e));
       }},
  };
  std::vector<Row> scaled(std::begin(rows), std::end(rows));
  check(scaled);
}

// semantics 7.2: NaN is ignored; a window without a number is -inf or +inf.
TEST(Morphology, IgnoresNaN) {
  for (const Size size : sizes) {
    const HostImage image = test::test_image_with_specials(1, size, 9);
    const Image a = reference::from_host(image);
    for (const auto& [name, e] : {std::pair("[1]", ones(1, 1)), std::pair("square,3", ones(3, 3)),
                                  std::pair("[1 0 0; 0 1 0; 0 1 1]", corner)}) {
      EXPECT_EQ(test::difference(reference::imdilate(a, e),
                                 run("imdilate " + std::string(name), image).image),
                "")
          << name;
      EXPECT_EQ(test::difference(reference::imerode(a, e),
                                 run("imerode " + std::string(name), image).image),
                "")
          << name;
    }
  }
}

TEST(OrderStatistics, AgreeWithTheirDefinitions) {
  const auto ord = [](int nth, const Matrix& domain, Outside outside = {}) {
    return [=](const Image& a) { return reference::ordfilt2(a, nth, domain, outside); };
  };
  const auto median = [](int rows, int columns, Outside outside = {}) {
    return [=](const Image& a) { return reference::medfilt2(a, rows, columns, outside); };
  };
  const Row rows[] = {
      {"medfilt2", all, median(3, 3)},
      {"medfilt2 k5 symmetric", all, median(5, 5, {"symmetric"})},
      {"medfilt2 5,3 symmetric", all, median(5, 3, {"symmetric"})},
      {"medfilt2 5 3 replicate", all, median(5, 3, {"replicate"})},
      {"medfilt2 7,7 circular", {uint8, single}, median(7, 7, {"circular"})},
      {"medfilt2 2,2", all, median(2, 2)},
      {"medfilt2 1,4 replicate", numbers, median(1, 4, {"replicate"})},
      {"medfilt2 13 pad=9", {uint8}, median(13, 13, {"constant", 9})},
      {"ordfilt2 7 rectangle,3,5", all, ord(7, ones(3, 5))},
      {"ordfilt2 1 square,3 pad=0.5", numbers, ord(1, ones(3, 3), {"constant", 0.5})},
      {"ordfilt2 n3 [1 0 0; 0 1 0; 0 1 1] replicate", all, ord(3, corner, {"replicate"})},
      {"ordfilt2 99 [1 1 0 0; 0 1 1 1] circular", all, ord(99, stairs, {"circular"})},
      {"ordfilt2 20 disk,4 symmetric", {uint8, uint16}, ord(20, disk(4), {"symmetric"})},
  };
  check(rows);
}

TEST(Stencil, RunsTheUsersExpression) {
  const auto differences = [](Outside outside) {
    return [=](const Image& a) {
      Image out = a;
      for (int r = 0; r < a.rows; ++r) {
        for (int c = 0; c < a.columns; ++c) {
          for (int k = 0; k < a.channels; ++k) {
            const auto at = [&](int dx, int dy) {
              return reference::sample(a, r + dy, c + dx, k, outside);
            };
            out.at(r, c, k) = reference::cast(
                a.cls, std::fabs(at(1, 0) - at(-1, 0)) + std::fabs(at(0, 2) - a.at(r, c, k)));
          }
        }
      }
      return out;
    };
  };
  const Row rows[] = {
      {"stencil 'abs(at(1,0) - at(-1,0)) + abs(at(0,2) - x)'", all, differences({"replicate"})},
      {"stencil 'abs(at(1,0) - at(-1,0)) + abs(at(0,2) - at(0,0))' r2 5",
       {uint8, uint16},
       differences({"constant", 5})},
      {"stencil 'abs(at(1,0) - at(-1,0)) + abs(at(0,2) - x)' circular",
       {uint8},
       differences({"circular"})},
  };
  check(rows);
}

// In vectors rows are read in place but for their ends: of every width, with every border, of tiles
// that were made before and of several tiles side by side.
TEST(Medfilt2, OfThreeIsTheSameOnEveryLevel) {
  const char* const texts[] = {"medfilt2 3",
                               "medfilt2 3 symmetric",
                               "imcomplement | medfilt2 3",
                               "medfilt2 3 replicate | medfilt2 3",
                               "medfilt2 3 circular",
                               "medfilt2 3 1",
                               "map '0.5*x' | medfilt2 3 symmetric"};
  std::vector<Size> wide;
  for (std::int64_t width = 20; width <= 230; ++width) wide.push_back({width, 1 + width % 6});
  wide.insert(wide.end(), {{4500, 3}, {9000, 2}, {300, 150}});
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Size& size : wide) {
      const HostImage image = test::test_image(cls, size.width % 5 == 0 ? 3 : 1, size, 7);
      const char* const text = texts[static_cast<std::size_t>(size.width % 7)];
      const HostImage plain =
          test::run(text, image, {}, {.level = CpuLevel::baseline, .backend = "cpu"}).image;
      for (const CpuLevel level : {CpuLevel::v3, CpuLevel::v4}) {
        if (!test::has_level(level)) continue;
        const HostImage made = test::run(text, image, {}, {.level = level, .backend = "cpu"}).image;
        ASSERT_EQ(test::difference(made, plain), "")
            << text << ", " << to_string(size) << ", " << name_of(cls);
      }
    }
  }
}

}  // namespace
}  // namespace impipe
