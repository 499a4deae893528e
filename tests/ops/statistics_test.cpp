// Measurements against naive references: values, columns and their names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "support/pipeline_runner.hpp"
#include "support/reference/filter.hpp"
#include "support/reference/geometry.hpp"
#include "support/reference/point.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

using reference::Image;
using test::run;

constexpr PixelClass classes[] = {PixelClass::logical, PixelClass::uint8, PixelClass::uint16,
                                  PixelClass::single};
const Size sizes[] = {{1, 1}, {17, 1}, {1, 13}, {31, 17}, {70, 45}, {129, 65}};

void expect_near(const std::vector<double>& expected, const std::vector<double>& got,
                 double relative, const std::string& what) {
  ASSERT_EQ(expected.size(), got.size()) << what;
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(expected[i], got[i], relative * std::max(1.0, std::fabs(expected[i])))
        << what << ", number " << i;
  }
}

double extreme(const Image& a, int channel, bool largest) {
  double out = std::numeric_limits<double>::quiet_NaN();
  for (size_t i = 0; i < a.values.size(); ++i) {
    if (channel >= 0 && static_cast<int>(i % a.channels) != channel) continue;
    const double v = a.values[i];
    if (std::isnan(v)) continue;
    if (std::isnan(out) || (largest ? v > out : v < out)) out = v;
  }
  return out;
}

double total(const Image& a, int channel) {
  double sum = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    if (channel < 0 || static_cast<int>(i % a.channels) == channel) sum += a.values[i];
  }
  return sum;
}

struct Measure {
  const char* name;
  double (*value)(const Image&, int channel);
};
const Measure measures[] = {
    {"mean2", reference::mean2},
    {"std2", reference::std2},
    {"sum", total},
    {"min", [](const Image& a, int k) { return extreme(a, k, false); }},
    {"max", [](const Image& a, int k) { return extreme(a, k, true); }},
};

TEST(Measurements, OfTheImageAndOfEachChannel) {
  std::uint64_t seed = 0;
  for (const Measure& measure : measures) {
    for (const PixelClass cls : classes) {
      for (const int channels : {1, 3}) {
        for (const Size size : sizes) {
          const HostImage image = test::test_image(cls, channels, size, ++seed);
          const Image a = reference::from_host(image);
          const std::string what = measure.name + (" of " + test::describe(image));
          const test::Ran whole = run(measure.name, image);
          expect_near({measure.value(a, -1)}, whole.columns, 1e-12, what);
          EXPECT_EQ(whole.names, std::vector<std::string>{measure.name});
          EXPECT_TRUE(whole.image.empty());  // it ends in a measurement
          std::vector<double> expected;
          for (int k = 0; k < channels; ++k) expected.push_back(measure.value(a, k));
          const test::Ran each = run(std::string(measure.name) + " each", image);
          expect_near(expected, each.columns, 1e-12, what + " each");
          if (channels == 3) {
            const std::string n = measure.name;
            EXPECT_EQ(each.names, (std::vector<std::string>{n + "_r", n + "_g", n + "_b"}));
          }
        }
      }
    }
  }
}

TEST(Stats, IsTheFiveOfThem) {
  for (const int channels : {1, 3}) {
    const HostImage image = test::test_image(PixelClass::uint16, channels, {70, 45}, 9);
    for (const std::string each : {"", " each"}) {
      const test::Ran all = run("stats" + each, image);
      const test::Ran one_by_one = run(
          "min" + each + " | max" + each + " | sum" + each + " | mean2" + each + " | std2" + each,
          image);
      EXPECT_EQ(all.columns, one_by_one.columns);
      EXPECT_EQ(all.names, one_by_one.names);
    }
  }
  // What the definition of each says is tested above; here that none is missing.
  EXPECT_EQ(run("stats", test::test_image(PixelClass::uint8, 1, {9, 9}, 1)).names,
            (std::vector<std::string>{"min", "max", "sum", "mean2", "std2"}));
}

TEST(Measurements, ExtremesSkipNaNAndSumsDoNot) {
  for (const int channels : {1, 3}) {
    const HostImage image = test::test_image_with_specials(channels, {31, 17}, 3);
    const Image a = reference::from_host(image);
    EXPECT_EQ(run("min", image).columns, std::vector<double>{extreme(a, -1, false)});
    EXPECT_EQ(run("max", image).columns, std::vector<double>{extreme(a, -1, true)});
    EXPECT_TRUE(std::isnan(run("mean2", image).columns[0]));
  }
  Image nothing(PixelClass::single, 1, 2, 2, 1);
  for (double& v : nothing.values) v = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(run("min", reference::to_host(nothing)).columns[0]));
  EXPECT_TRUE(std::isnan(run("max", reference::to_host(nothing)).columns[0]));
}

TEST(Measurements, SeveralAreColumnsOfOneRowAndTheImageGoesOn) {
  const HostImage image = test::test_image(PixelClass::uint8, 1, {31, 17}, 4);
  const test::Ran ran = run("mean2 | std2 | max | imcomplement", image);
  EXPECT_EQ(ran.names, (std::vector<std::string>{"mean2", "std2", "max"}));
  const Image a = reference::from_host(image);
  expect_near({reference::mean2(a, -1), reference::std2(a, -1), extreme(a, -1, true)}, ran.columns,
              1e-12, "the row");
  EXPECT_EQ(test::difference(reference::imcomplement(a), ran.image), "");
}

TEST(Imhist, CountsEveryPixelOnce) {
  std::uint64_t seed = 50;
  for (const PixelClass cls : classes) {
    for (const int bins : {0, 1, 2, 4, 16, 255, 256, 1000, 65536}) {
      for (const int channels : {1, 3}) {
        const HostImage image = test::test_image(cls, channels, {70, 45}, ++seed);
        const Image a = reference::from_host(image);
        const int n = bins > 0 ? bins : cls == PixelClass::logical ? 2 : 256;
        std::vector<double> expected;
        for (int k = 0; k < channels; ++k) {
          const std::vector<double> h = reference::imhist(a, k, n);
          expected.insert(expected.end(), h.begin(), h.end());
        }
        const test::Ran ran =
            run(bins > 0 ? "imhist " + std::to_string(bins) : std::string("imhist"), image);
        if (cls != PixelClass::single) {
          EXPECT_EQ(ran.measurement, expected) << n << " bins of " << test::describe(image);
        } else {
          // Values between two bins may fall on either side in float32.
          double wrong = 0;
          for (size_t i = 0; i < expected.size(); ++i) {
            wrong += std::fabs(expected[i] - ran.measurement.at(i));
          }
          EXPECT_LE(wrong, 0.004 * static_cast<double>(a.values.size())) << n << " bins";
        }
        EXPECT_EQ(ran.columns.size(), n <= 16 ? expected.size() : 0u);
      }
    }
  }
}

// semantics 6.2
TEST(Imhist, EndBinsAreHalfAsWide) {
  Image a(PixelClass::uint8, 255, 16, 16, 1);
  for (size_t i = 0; i < 256; ++i) a.values[i] = static_cast<double>(i);
  EXPECT_EQ(run("imhist 4", reference::to_host(a)).columns, (std::vector<double>{43, 85, 85, 43}));
}

TEST(Graythresh, IsOtsusThreshold) {
  std::uint64_t seed = 80;
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const int channels : {1, 3}) {
      for (const Size size : sizes) {
        const HostImage image = test::test_image(cls, channels, size, ++seed);
        const Image gray = reference::rgb2gray(reference::from_host(image));
        if (cls == PixelClass::single && channels == 3) continue;  // float32 codes at ties
        expect_near({reference::graythresh(gray).level}, run("graythresh", image).columns, 1e-15,
                    test::describe(image));
      }
    }
  }
}

TEST(Graythresh, HandsTheColourImageOn) {
  const HostImage image = test::test_image(PixelClass::uint8, 3, {31, 17}, 4);
  EXPECT_EQ(test::difference(run("imcomplement", image).image,
                             run("graythresh | imcomplement", image).image),
            "");
}

// Two values with nothing between: the middle of the plateau.
TEST(Graythresh, AGapGivesItsMiddle) {
  Image a(PixelClass::uint8, 255, 1, 4, 1);
  a.values = {10, 10, 200, 200};
  // t - 1 runs from 10 to 199: the mean is 104.5
  EXPECT_EQ(run("graythresh", reference::to_host(a)).columns, std::vector<double>{104.5 / 255});
  Image constant(PixelClass::uint8, 255, 3, 3, 1);
  EXPECT_EQ(run("graythresh", reference::to_host(constant)).columns, std::vector<double>{0});
}

TEST(Stretchlim, IsTheSortedSampleRule) {
  std::uint64_t seed = 90;
  const std::pair<const char*, std::pair<double, double>> tolerances[] = {
      {"stretchlim", {0.01, 0.99}},   {"stretchlim 0.05", {0.05, 1 - 0.05}},
      {"stretchlim tol=0,1", {0, 1}}, {"stretchlim 0.5", {0.5, 0.5}},
      {"stretchlim 1,1", {1, 1}},     {"stretchlim 0,0", {0, 0}},
  };
  for (const auto& [text, tol] : tolerances) {
    for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
      for (const int channels : {1, 3}) {
        for (const Size size : sizes) {
          const HostImage image = test::test_image(cls, channels, size, ++seed);
          const Image a = reference::from_host(image);
          std::vector<double> expected;
          for (int k = 0; k < channels; ++k) {
            const auto [lo, hi] = reference::stretchlim(a, k, tol.first, tol.second);
            expected.insert(expected.end(), {lo, hi});
          }
          EXPECT_EQ(run(text, image).columns, expected) << text << " of " << test::describe(image);
        }
      }
    }
  }
  const HostImage gray = test::test_image(PixelClass::uint8, 1, {9, 9}, 1);
  EXPECT_EQ(run("stretchlim", gray).names,
            (std::vector<std::string>{"stretchlim_1", "stretchlim_2"}));
}

TEST(Reduce, JoinsWithTheUsersExpression) {
  for (const PixelClass cls : classes) {
    for (const int channels : {1, 3}) {
      for (const Size size : sizes) {
        const HostImage image = test::test_image(cls, channels, size, 6);
        const Image a = reference::from_host(image);
        std::vector<double> largest, sums;
        for (int k = 0; k < channels; ++k) {
          largest.push_back(std::max(extreme(a, k, true), -5.0));
          sums.push_back(total(a, k));
        }
        EXPECT_EQ(run("reduce 'max(acc, x)' init=-5", image).columns, largest)
            << test::describe(image);
        expect_near(sums, run("reduce 'acc + x'", image).columns, 1e-9, test::describe(image));
      }
    }
  }
}

TEST(Histogram, CountsTheUsersBins) {
  const HostImage image = test::test_image(PixelClass::uint8, 3, {70, 45}, 7);
  const Image a = reference::from_host(image);
  std::vector<double> expected(3 * 10);
  for (size_t i = 0; i < a.values.size(); ++i) {
    const double bin = std::floor(a.values[i] / 20 - 1);
    if (bin >= 0 && bin < 10) ++expected[i % 3 * 10 + static_cast<size_t>(bin)];
  }
  EXPECT_EQ(run("histogram 'x / 20 - 1' bins=10", image).measurement, expected);
}

TEST(Histeq, IsThePartOfThePixelsUpToTheLevel) {
  std::uint64_t seed = 20;
  for (const PixelClass cls : classes) {
    for (const int channels : {1, 3}) {
      for (const Size size : sizes) {
        const HostImage image = test::test_image(cls, channels, size, ++seed);
        for (const int bins : {2, 64, 255, 256, 1000}) {
          EXPECT_EQ(test::difference(reference::histeq(reference::from_host(image), bins),
                                     run("histeq " + std::to_string(bins), image).image, 1e-7),
                    "")
              << bins << " of " << test::describe(image);
        }
      }
    }
  }
}

TEST(Histeq, OfAConstantImageIsOne) {
  HostImage image({.cls = PixelClass::uint8}, {7, 5});
  for (int y = 0; y < 5; ++y) std::fill_n(image.planes.front().row_as<std::uint8_t>(y), 7, 93);
  EXPECT_EQ(reference::from_host(run("histeq", image).image).values, std::vector<double>(35, 1.0));
}

// The level of every bin by trying all of them, as semantics-2 4.3 has it.
Image histogram_matched(const Image& a, const Image& b, int bins) {
  Image out = a;
  const auto counts = [](const Image& of, int channel, int many) {
    std::vector<double> count(static_cast<size_t>(many));
    for (size_t i = static_cast<size_t>(channel); i < of.values.size(); i += of.channels) {
      ++count[static_cast<size_t>(std::floor(of.values[i] / of.white * (many - 1) + 0.5))];
    }
    return count;
  };
  for (int c = 0; c < static_cast<int>(a.channels); ++c) {
    const std::vector<double> own = counts(a, c, 256), wanted = counts(b, c, bins);
    const double total = std::accumulate(own.begin(), own.end(), 0.0);
    const double all = std::accumulate(wanted.begin(), wanted.end(), 0.0);
    std::vector<double> levels(256);
    double cumulated = 0;
    for (size_t k = 0; k < 256; ++k) {
      cumulated += own[k];
      double reached = 0, least = 0;
      for (size_t j = 0; j < wanted.size(); ++j) {
        reached += wanted[j] * total / all;
        const double off = reached - cumulated + (k > 0 && k < 255 ? own[k] / 2 : 0);
        const double error = off < -total * std::ldexp(1, -26) ? total : off;
        if (j > 0 && error >= least) continue;
        least = error;
        levels[k] = static_cast<double>(j) / (bins - 1) * a.white;
      }
    }
    for (size_t i = static_cast<size_t>(c); i < a.values.size(); i += a.channels) {
      const double bin = std::floor(a.values[i] / a.white * 255 + 0.5);
      out.values[i] = std::floor(levels[static_cast<size_t>(bin)] + 0.5);
    }
  }
  return out;
}

TEST(Imhistmatch, TakesTheNearestLevelOfAll) {
  std::uint64_t seed = 300;
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16}) {
    for (const int channels : {1, 3}) {
      for (const Size size : {Size{1, 1}, Size{31, 17}, Size{129, 65}}) {
        const HostImage a = test::test_image(cls, channels, size, ++seed);
        const HostImage b = test::test_image(PixelClass::uint8, channels, {40, 33}, ++seed);
        for (const int bins : {2, 64, 256, 300, 5000}) {
          const Image expected =
              histogram_matched(reference::from_host(a), reference::from_host(b), bins);
          for (const char* backend : {"", "opencl"}) {
            if (!test::has_device(*backend != 0 ? backend : "cpu")) continue;
            EXPECT_EQ(test::difference(expected,
                                       run("imhistmatch :b " + std::to_string(bins), a, {{"b", b}},
                                           {.backend = backend})
                                           .image,
                                       1e-7),
                      "")
                << bins << " of " << test::describe(a) << " " << backend;
          }
        }
      }
    }
  }
}

TEST(Jointhist, CountsPairs) {
  std::uint64_t seed = 60;
  for (const PixelClass cls : {PixelClass::logical, PixelClass::uint8, PixelClass::uint16}) {
    for (const int channels : {1, 3}) {
      for (const Size size : sizes) {
        const HostImage a = test::test_image(cls, channels, size, ++seed);
        const HostImage b = test::test_image(cls, channels, size, ++seed);
        for (const int bins : {1, 2, 7, 32, 256, 300}) {
          EXPECT_EQ(run("jointhist :b " + std::to_string(bins), a, {{"b", b}}).measurement,
                    reference::jointhist(reference::from_host(a), reference::from_host(b), bins))
              << bins << " of " << test::describe(a);
        }
      }
    }
  }
}

TEST(Jointhist, OfManyPixels) {
  const HostImage a = test::test_image(PixelClass::uint8, 1, {1500, 1100}, 3);
  const HostImage b = test::test_image(PixelClass::uint8, 1, {1500, 1100}, 4);
  EXPECT_EQ(run("jointhist :b", a, {{"b", b}}).measurement,
            reference::jointhist(reference::from_host(a), reference::from_host(b), 256));
}

// Counts far beyond a byte, which is what the CPU counts in first.
TEST(Jointhist, OfFewDifferentPairs) {
  for (const int channels : {1, 3}) {
    HostImage a({.cls = PixelClass::uint8, .channels = channels}, {700, 400}),
        b(a.type, {700, 400});
    for (int y = 0; y < 400; ++y) {
      for (int i = 0; i < 700 * channels; ++i) {
        const auto c = static_cast<size_t>(i % channels);
        a.planes[c].row_as<std::uint8_t>(y)[i / channels] = static_cast<std::uint8_t>(250 + c);
        b.planes[c].row_as<std::uint8_t>(y)[i / channels] = static_cast<std::uint8_t>(i / 350);
      }
    }
    for (const int bins : {3, 256}) {
      EXPECT_EQ(run("jointhist :b " + std::to_string(bins), a, {{"b", b}}).measurement,
                reference::jointhist(reference::from_host(a), reference::from_host(b), bins))
          << channels << " channels, " << bins;
    }
  }
}

}  // namespace
}  // namespace impipe
