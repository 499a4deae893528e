// Point operators and geometry against naive references, for every class and awkward sizes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "support/pipeline_runner.hpp"
#include "support/reference/point.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

using reference::Image;
using test::run;

constexpr PixelClass logical = PixelClass::logical, uint8 = PixelClass::uint8,
                     uint16 = PixelClass::uint16, single = PixelClass::single;
const Size sizes[] = {{1, 1}, {17, 1}, {1, 13}, {31, 17}, {70, 45}};

struct Row {
  const char* text;
  std::vector<PixelClass> classes;
  double single_tolerance;  // of results that are single; the rest is exact
  std::function<Image(const Image&)> expected;
};

Image adjusted(const Image& a, double li, double hi, double lo, double ho, double gamma) {
  return reference::imadjust(a, {{li, hi}}, lo, ho, gamma);
}

Image auto_adjusted(const Image& a, double tol1, double tol2) {
  std::vector<std::pair<double, double>> limits;
  for (int k = 0; k < a.channels; ++k) limits.push_back(reference::stretchlim(a, k, tol1, tol2));
  return reference::imadjust(a, limits, 0, 1, 1);
}

Image binarized(const Image& a, double level) {
  return reference::im2bw(reference::rgb2gray(a), level);
}

Image otsu(const Image& a) {
  const Image gray = reference::rgb2gray(a);
  if (gray.cls == logical) return gray;
  return reference::im2bw(gray,
                          reference::graythresh(gray).code / (gray.cls == uint16 ? 65535 : 255));
}

const Row rows[] = {
    {"imadjust 0.1,0.9",
     {uint8, uint16, single},
     3e-7,
     [](const Image& a) { return adjusted(a, 0.1, 0.9, 0, 1, 1); }},
    {"imadjust 0.2 0.7 out=0.12,0.88 gamma=0.5",
     {uint8, uint16, single},
     1e-6,
     [](const Image& a) { return adjusted(a, 0.2, 0.7, 0.12, 0.88, 0.5); }},
    {"imadjust in=0,1 out=1,0 gamma=3",
     {uint8, uint16, single},
     1e-6,
     [](const Image& a) { return adjusted(a, 0, 1, 1, 0, 3); }},
    {"imadjust [] [] 3",
     {uint8, uint16, single},
     1e-6,
     [](const Image& a) { return adjusted(a, 0, 1, 0, 1, 3); }},
    {"imadjust in=[] out=1,0",
     {uint8, single},
     1e-6,
     [](const Image& a) { return adjusted(a, 0, 1, 1, 0, 1); }},
    {"imadjust 0.5,0.5 out=0.25,0.75",
     {uint8, uint16, single},
     1e-7,
     [](const Image& a) { return adjusted(a, 0.5, 0.5, 0.25, 0.75, 1); }},
    {"imadjust 0.3,0.6 g0",
     {uint8, uint16, single},
     1e-7,
     [](const Image& a) { return adjusted(a, 0.3, 0.6, 0, 1, 0); }},
    {"imadjust",
     {uint8, uint16, single},
     3e-7,
     [](const Image& a) { return auto_adjusted(a, 0.01, 0.99); }},
    {"imadjust tol=0.2",
     {uint8, uint16, single},
     3e-7,
     [](const Image& a) { return auto_adjusted(a, 0.2, 1 - 0.2); }},
    {"imadjust tol=0,1",
     {uint8, uint16, single},
     3e-7,
     [](const Image& a) { return auto_adjusted(a, 0, 1); }},
    {"gamma 2.2",
     {uint8, uint16, single},
     1e-6,
     [](const Image& a) { return adjusted(a, 0, 1, 0, 1, 2.2); }},
    {"imcomplement", {logical, uint8, uint16, single}, 1e-7, reference::imcomplement},
    {"im2bw",
     {logical, uint8, uint16, single},
     0,
     [](const Image& a) { return binarized(a, 0.5); }},
    {"im2bw 0.2", {uint8, uint16}, 0, [](const Image& a) { return binarized(a, 0.2); }},
    {"imbinarize t0.25", {uint8, uint16}, 0, [](const Image& a) { return binarized(a, 0.25); }},
    {"imbinarize", {uint8, uint16}, 0, otsu},
    {"rgb2gray", {uint8, uint16, single}, 2e-7, reference::rgb2gray},
    {"im2uint8",
     {logical, uint8, uint16, single},
     0,
     [](const Image& a) { return reference::convert(a, uint8); }},
    {"im2uint16",
     {logical, uint8, uint16, single},
     0,
     [](const Image& a) { return reference::convert(a, uint16); }},
    {"im2single",
     {logical, uint8, uint16, single},
     0,
     [](const Image& a) { return reference::convert(a, single); }},
    {"im2double", {uint8, single}, 0, [](const Image& a) { return reference::convert(a, single); }},
    {"mat2gray",
     {logical, uint8, uint16, single},
     2e-7,
     [](const Image& a) { return reference::mat2gray(a, {}); }},
    {"mat2gray 10,200",
     {uint8, uint16, single},
     2e-7,
     [](const Image& a) { return reference::mat2gray(a, std::pair(10.0, 200.0)); }},
    {"imlincomb 1.5 add=-0.25",
     {uint8, uint16, single},
     0,
     [](const Image& a) { return reference::imlincomb({1.5}, {a}, -0.25, a.cls); }},
    {"imlincomb k=0.5 class=single",
     {uint8, uint16, single},
     0,
     [](const Image& a) { return reference::imlincomb({0.5}, {a}, 0, single); }},
    {"map 'x / 2 + 0.25'",
     {uint8, uint16, single},
     1e-7,
     [](const Image& a) { return reference::imlincomb({0.5}, {a}, 0.25, a.cls); }},
    {"map '(r + g + b) / 4'",
     {uint8, uint16},
     0,
     [](const Image& a) {
       Image out(a.cls, a.white, a.rows, a.columns, 1);
       for (size_t i = 0; i < out.values.size(); ++i) {
         const auto channel = [&](int k) {
           return a.values[i * a.channels + (a.channels == 3 ? k : 0)];
         };
         out.values[i] = reference::cast(a.cls, (channel(0) + channel(1) + channel(2)) / 4);
       }
       return out;
     }},
    {"map 'col + 3 * row + x' class=uint16",
     {uint8, logical},
     0,
     [](const Image& a) {
       Image out(uint16, a.white, a.rows, a.columns, a.channels);
       for (int r = 0; r < a.rows; ++r) {
         for (int c = 0; c < a.columns; ++c) {
           for (int k = 0; k < a.channels; ++k) out.at(r, c, k) = c + 3 * r + a.at(r, c, k);
         }
       }
       return out;
     }},
    {"imadd 20",
     {uint8, uint16},
     0,
     [](const Image& a) { return reference::imlincomb({1}, {a}, 20, a.cls); }},
    {"imsubtract 20.5",
     {uint8, uint16},
     0,
     [](const Image& a) { return reference::imlincomb({1}, {a}, -20.5, a.cls); }},
    {"immultiply 1.5",
     {uint8, uint16, single},
     0,
     [](const Image& a) { return reference::imlincomb({1.5}, {a}, 0, a.cls); }},
    {"transpose", {logical, uint8, uint16, single}, 0, reference::transpose},
    {"fliplr", {logical, uint8, uint16, single}, 0, reference::fliplr},
    {"flipud", {logical, uint8, uint16, single}, 0, reference::flipud},
    {"rot90",
     {logical, uint8, uint16, single},
     0,
     [](const Image& a) { return reference::rot90(a, 1); }},
    {"rot90 2", {uint8, single}, 0, [](const Image& a) { return reference::rot90(a, 2); }},
    {"rot90 -1", {uint16, single}, 0, [](const Image& a) { return reference::rot90(a, 3); }},
    {"rot90 k=-8", {uint8}, 0, [](const Image& a) { return a; }},
};

TEST(PointOperators, AgreeWithTheirDefinitions) {
  std::uint64_t seed = 0;
  for (const Row& row : rows) {
    for (const PixelClass cls : row.classes) {
      for (const int channels : {1, 3}) {
        for (const Size size : sizes) {
          const HostImage image = test::test_image(cls, channels, size, ++seed);
          const Image expected = row.expected(reference::from_host(image));
          const double tolerance = expected.cls == single ? row.single_tolerance : 0;
          EXPECT_EQ(test::difference(expected, run(row.text, image).image, tolerance), "")
              << row.text << " on " << test::describe(image);
        }
      }
    }
  }
}

TEST(PointOperators, EveryCodeOfTheClass) {
  const char* texts[] = {"imadjust 0.1,0.9", "imadjust 0.2,0.7 out=0.12,0.88 gamma=0.5",
                         "imcomplement",     "im2uint8",
                         "im2uint16",        "im2single"};
  for (const PixelClass cls : {uint8, uint16}) {
    Image codes(cls, class_max(cls), static_cast<int>(class_max(cls) + 1) / 256, 256, 1);
    for (size_t i = 0; i < codes.values.size(); ++i) codes.values[i] = static_cast<double>(i);
    for (const char* text : texts) {
      for (const Row& row : rows) {
        if (std::string_view(row.text).find(text) != 0) continue;
        EXPECT_EQ(
            test::difference(row.expected(codes), run(row.text, reference::to_host(codes)).image),
            "")
            << row.text << " on " << name_of(cls);
      }
    }
  }
}

// semantics 1.3: 25.5 and 229.5 are ties, which go away from zero.
TEST(Imadjust, TiesGoAwayFromZero) {
  Image a(uint8, 255, 1, 2, 1);
  a.values = {0, 255};
  Image expected = a;
  expected.values = {26, 230};
  EXPECT_EQ(
      test::difference(expected, run("imadjust in=0,1 out=0.1,0.9", reference::to_host(a)).image),
      "");
}

// semantics 1.5: 0.2 * 255 is 51 exactly, and 51 is not above it.
TEST(Im2bw, TheLevelItselfIsNotAbove) {
  Image a(uint8, 255, 1, 2, 1);
  a.values = {51, 52};
  Image expected(logical, 1, 1, 2, 1);
  expected.values = {0, 1};
  EXPECT_EQ(test::difference(expected, run("im2bw 0.2", reference::to_host(a)).image), "");
}

// semantics-2: equal belongs below. The float nearest to 0.1 is above it, that nearest to 0.7
// below.
TEST(Imquantize, LevelsBetweenFloats) {
  Image a(single, 1, 1, 6, 1);
  a.values = {0.1f, std::nextafter(0.1f, 0.0f), 0.7f, std::nextafter(0.7f, 1.0f), 1e30f, -1};
  Image expected(single, 0, 1, 6, 1);
  expected.values = {2, 1, 2, 3, 3, 1};
  EXPECT_EQ(
      test::difference(expected, run("imquantize 0.1,0.7,1e300", reference::to_host(a)).image), "");
}

TEST(Intlut, LooksUpEveryClassAndChannel) {
  for (const PixelClass cls : {uint8, uint16}) {
    const int codes = static_cast<int>(class_max(cls)) + 1;
    const HostImage table = test::test_image(cls, 1, {codes / 16, 16}, 7);
    for (const int channels : {1, 3}) {
      for (const Size size : sizes) {
        const HostImage image = test::test_image(cls, channels, size, 8);
        EXPECT_EQ(test::difference(
                      reference::intlut(reference::from_host(image), reference::from_host(table)),
                      run("intlut :t", image, {{"t", table}}).image),
                  "")
            << test::describe(image);
      }
    }
  }
}

TEST(Imlincomb, AnyNumberOfImagesIsRoundedOnce) {
  const std::vector<double> weights{0.5, 0.25, -1.5, 2, 0.125, -0.75, 1.25, 0.3, -0.2, 0.7};
  for (const PixelClass cls : {uint8, uint16, single}) {
    for (const int channels : {1, 3}) {
      std::vector<HostImage> images;
      std::map<std::string, HostImage> operands;
      std::string numbers, names;
      for (size_t n = 1; n <= weights.size(); ++n) {
        images.push_back(test::test_image(cls, channels, {37, 21}, 100 + n));
        numbers += (n > 1 ? "," : "k=") + std::to_string(weights[n - 1]);
        if (n > 1) {
          const std::string name = "i" + std::to_string(n);
          operands[name] = images.back();
          names += " :" + name;
        }
        std::vector<Image> plain;
        for (const HostImage& image : images) plain.push_back(reference::from_host(image));
        const Image expected = reference::imlincomb(
            {weights.begin(), weights.begin() + static_cast<long>(n)}, plain, 10.5, cls);
        EXPECT_EQ(test::difference(
                      expected,
                      run("imlincomb " + numbers + names + " add=10.5", images[0], operands).image),
                  "")
            << n << " images of " << name_of(cls);
      }
    }
  }
}

struct Pair {
  const char* text;
  double (*value)(double, double);
};
const Pair pairs[] = {
    {"imadd :b", [](double x, double y) { return x + y; }},
    {"imsubtract :b", [](double x, double y) { return x - y; }},
    {"immultiply :b", [](double x, double y) { return x * y; }},
    {"imdivide :b", [](double x, double y) { return x / y; }},
    {"imabsdiff :b", [](double x, double y) { return std::fabs(x - y); }},
    {"map 'max(x, other) - 1'", [](double x, double y) { return std::max(x, y) - 1; }},
};

TEST(Arithmetic, WithAnImage) {
  for (const Pair& pair : pairs) {
    for (const PixelClass cls : {uint8, uint16, single}) {
      for (const int channels : {1, 3}) {
        const HostImage a = test::test_image(cls, channels, {31, 17}, 1);
        const HostImage b = test::test_image(cls, channels, {31, 17}, 2);
        Image expected = reference::from_host(a);
        const Image other = reference::from_host(b);
        for (size_t i = 0; i < expected.values.size(); ++i) {
          expected.values[i] =
              reference::cast(cls, pair.value(expected.values[i], other.values[i]));
        }
        EXPECT_EQ(test::difference(expected, run(pair.text, a, {{"b", b}, {"other", b}}).image,
                                   cls == single ? 1e-6 : 0),
                  "")
            << pair.text << " of " << name_of(cls);
      }
    }
  }
}

}  // namespace
}  // namespace impipe
