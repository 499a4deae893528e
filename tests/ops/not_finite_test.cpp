// What operators do with NaN and Inf: what their descriptions say, the same wherever they run, and
// with one NaN.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "core/error.hpp"
#include "core/one_nan.hpp"
#include "core/operator.hpp"
#include "support/operator_uses.hpp"
#include "support/pipeline_runner.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

using Rule = NotFinite::Rule;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();
constexpr Size size{19, 17};
constexpr std::int64_t row = 8, column = 9;  // of the pixel that is changed

std::string stage_of(const Operator& op, const std::string& arguments) {
  return std::string(op.name) + (arguments.empty() ? "" : " " + arguments);
}

HostImage image_for(const Operator& op) {
  return test::test_image(PixelClass::single, op.colour ? 3 : 1, size, 41);
}

// The image, which shares its memory with none, with another value in one pixel.
HostImage with_value(const HostImage& image, float value) {
  HostImage out(image.type, image.size());
  for (std::size_t c = 0; c < out.planes.size(); ++c) {
    for (std::int64_t y = 0; y < size.height; ++y) {
      std::memcpy(out.planes[c].row(y), image.planes[c].row(y),
                  static_cast<std::size_t>(image.planes[c].row_bytes()));
    }
    out.planes[c].row_as<float>(row)[column] = value;
  }
  return out;
}

// A result, or the message of a refusal.
struct Outcome {
  test::Ran ran;
  std::string refused;
};

Outcome outcome_of(const std::string& stage, const HostImage& image,
                   const test::RunOptions& options = {}) {
  try {
    return {test::run(stage, image, test::operands_for(image), options), ""};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::string difference(const Outcome& a, const Outcome& b) {
  if (a.refused != b.refused) return "'" + a.refused + "' and '" + b.refused + "'";
  if (!a.refused.empty()) return "";
  if (!std::ranges::equal(a.ran.columns, b.ran.columns, same)) return "other columns";
  if (!std::ranges::equal(a.ran.measurement, b.ran.measurement, same)) return "other numbers";
  if (a.ran.image.empty() != b.ran.image.empty()) return "one has no image";
  return a.ran.image.empty() ? "" : test::difference(a.ran.image, b.ran.image);
}

struct Place {
  std::string name;
  test::RunOptions options;
};

std::vector<Place> places() {
  std::vector<Place> out{{"baseline", {.level = CpuLevel::baseline}}};
  if (test::has_level(CpuLevel::v3)) out.push_back({"v3", {.level = CpuLevel::v3}});
  if (test::has_level(CpuLevel::v4)) out.push_back({"v4", {.level = CpuLevel::v4}});
  if (test::has_device("opencl")) out.push_back({"opencl", {.backend = "opencl"}});
  return out;
}

// Powers and exponentials of floats, whose last bits are a device's own (decision 0067).
bool has_powers(const Operator& op) {
  static const std::set<std::string_view> names{"gamma",   "imbilatfilt", "lab2rgb", "lin2rgb",
                                                "rgb2lab", "rgb2lin",     "rgb2xyz", "xyz2rgb"};
  return names.contains(op.name);
}

// Fourier transforms of whole images, whose kernels compile for seconds: Spectra of
// tests/cli/test_devices.py compares them.
bool has_spectra(const Operator& op) {
  static const std::set<std::string_view> names{"dct2", "deconvlucy", "deconvwnr", "edgetaper",
                                                "fft2", "freqfilt",   "idct2",     "ifft2"};
  return names.contains(op.name);
}

TEST(NotFinite, EveryOperatorIsTheSameWhereverItRuns) {
  for (const Operator& op : catalogue()) {
    if (op.lower == nullptr || op.reduction != nullptr || !op.classes.single ||
        op.not_finite.rule == Rule::last)
      continue;
    const std::string stage = stage_of(op, test::uses_of(op)->front());
    const HostImage image = test::test_image_with_specials(op.colour ? 3 : 1, {31, 17}, 12);
    const Outcome expected = outcome_of(stage, image);
    for (const Place& place : places()) {
      if ((has_powers(op) || has_spectra(op)) && !place.options.backend.empty()) continue;
      EXPECT_EQ(difference(expected, outcome_of(stage, image, place.options)), "")
          << stage << " at " << place.name;
    }
  }
}

// What one NaN makes of a use.
struct Law {
  const Operator& op;
  std::string stage;
  HostImage image = image_for(op);
  Outcome without = outcome_of(stage, image);
  Outcome with = outcome_of(stage, with_value(image, nan));

  // Each value of the result's planes: what it was and is, and whether it is the pixel's own.
  template <class Check>
  void each(const Check& check) const {
    const HostImage& was = without.ran.image;
    const HostImage& is = with.ran.image;
    ASSERT_EQ(was.size(), is.size()) << stage;
    for (std::size_t c = 0; c < is.planes.size(); ++c) {
      for (std::int64_t y = 0; y < is.size().height; ++y) {
        for (std::int64_t x = 0; x < is.size().width; ++x) {
          check(value(was.planes[c], y, x), value(is.planes[c], y, x), y == row && x == column);
        }
      }
    }
  }

  static double value(const Plane& plane, std::int64_t y, std::int64_t x) {
    switch (plane.cls()) {
      case PixelClass::single: return plane.row_as<float>(y)[x];
      case PixelClass::uint16: return plane.row_as<std::uint16_t>(y)[x];
      default: return plane.row_as<std::uint8_t>(y)[x];
    }
  }
};

// Operators whose limits are measured: a pixel less changes the others a little.
bool measures_first(const Operator& op) {
  static const std::set<std::string_view> names{"imadjust", "mat2gray", "wiener2", "imsharpen"};
  return names.contains(op.name);
}

void check_moved(const Law& law) {
  const double own = law.image.planes.front().row_as<float>(row)[column];
  law.each([&](double was, double is, bool) {
    EXPECT_TRUE(was == is || (std::isnan(is) && was == own))
        << law.stage << ": " << was << " " << is;
  });
}

void check_propagated(const Law& law) {
  const bool number = law.with.ran.image.type.cls != PixelClass::single;
  law.each([&](double was, double is, bool own) {
    if (own) {
      EXPECT_TRUE(number ? is == 0 : std::isnan(is)) << law.stage << ": " << is;
    } else if (!measures_first(law.op)) {
      EXPECT_TRUE(same(was, is)) << law.stage << ": " << was << " " << is;
    }
  });
}

void check_spread(const Law& law) {
  int spread = 0;
  law.each([&](double was, double is, bool) {
    spread += std::isnan(is);
    if (!measures_first(law.op)) {
      EXPECT_TRUE(same(was, is) || std::isnan(is)) << law.stage << ": " << was << " " << is;
    }
  });
  // A smaller picture of single pixels may be without it.
  if (law.stage.find("nearest") == std::string::npos) {
    EXPECT_GT(spread, 0) << law.stage;
  }
}

void check_left_out(const Law& law) {
  for (const double number : law.with.ran.columns) EXPECT_TRUE(std::isfinite(number)) << law.stage;
  for (const double number : law.with.ran.measurement) {
    EXPECT_TRUE(std::isfinite(number)) << law.stage;
  }
  if (law.with.ran.image.empty()) return;
  law.each([&](double, double is, bool) { EXPECT_TRUE(std::isfinite(is)) << law.stage; });
}

// The same as with that value instead.
void check_counts_as(const Law& law, float value) {
  EXPECT_EQ(difference(outcome_of(law.stage, with_value(law.image, value)), law.with), "")
      << law.stage;
}

void check(const Law& law) {
  // One that says so in its own words may refuse such a picture.
  if (law.op.not_finite.rule == Rule::other) return;
  ASSERT_EQ(law.with.refused, law.without.refused) << law.stage;
  if (!law.with.refused.empty()) return;
  switch (law.op.not_finite.rule) {
    case Rule::moved: return check_moved(law);
    case Rule::propagated: return check_propagated(law);
    case Rule::spread: return check_spread(law);
    case Rule::left_out: return check_left_out(law);
    case Rule::zero: return check_counts_as(law, 0);
    case Rule::object: return check_counts_as(law, 1);
    default: return;
  }
}

TEST(NotFinite, WhatDescriptionsSayIsALaw) {
  for (const Operator& op : catalogue()) {
    if (op.lower == nullptr || op.reduction != nullptr || !op.classes.single) continue;
    for (const std::string& arguments : *test::uses_of(op)) check({op, stage_of(op, arguments)});
  }
}

// Statistics of a picture with one pixel that is not finite are those of its others, but for that
// pixel's count; none becomes NaN or Inf.
TEST(NotFinite, OnePixelDoesNotTakeAStatisticAway) {
  const HostImage image = test::test_image(PixelClass::single, 1, {64, 50}, 5);
  for (const std::string stage :
       {"multithresh", "multithresh 3", "graythresh", "otsuthresh", "stretchlim", "imhist 4"}) {
    const test::Ran without = test::run(stage, image);
    for (const float value : {nan, inf, -inf}) {
      HostImage changed(image.type, image.size());
      for (std::int64_t y = 0; y < 50; ++y) {
        std::memcpy(changed.planes[0].row(y), image.planes[0].row(y), 64 * sizeof(float));
      }
      changed.planes[0].row_as<float>(20)[30] = value;
      const test::Ran with = test::run(stage, changed);
      ASSERT_EQ(with.measurement.size(), without.measurement.size());
      for (std::size_t i = 0; i < with.measurement.size(); ++i) {
        EXPECT_NEAR(with.measurement[i], without.measurement[i], stage[0] == 'i' ? 1 : 0.02)
            << stage << " with " << value;
      }
    }
  }
}

// A ramp from 1 to 2 with one pixel that is not finite: limits are 1 and 2.
TEST(NotFinite, RangesAreOfFiniteValues) {
  for (const float value : {nan, inf, -inf}) {
    HostImage image({.cls = PixelClass::single, .channels = 1, .white = 1}, {101, 1});
    float* const pixels = image.planes[0].row_as<float>(0);
    for (int x = 0; x <= 100; ++x) pixels[x] = 1 + static_cast<float>(x) / 100;
    pixels[50] = value;
    const HostImage stretched = test::run("mat2gray", image).image;
    EXPECT_EQ(stretched.planes[0].row_as<float>(0)[0], 0);
    EXPECT_EQ(stretched.planes[0].row_as<float>(0)[100], 1);
    EXPECT_NEAR(stretched.planes[0].row_as<float>(0)[25], 0.25, 1e-6);
    const float own = stretched.planes[0].row_as<float>(0)[50];
    EXPECT_TRUE(value > 0 ? own == 1 : value < 0 ? own == 0 : std::isnan(own)) << value;
    const HostImage levels = test::run("histeq 101", image).image;
    EXPECT_GT(levels.planes[0].row_as<float>(0)[99], levels.planes[0].row_as<float>(0)[2]) << value;
  }
}

// The mean of the finite variances, written as a noise, gives the same picture.
TEST(NotFinite, NoiseOfWienersFilterIsThatOfFiniteVariances) {
  HostImage image = test::test_image(PixelClass::single, 1, {40, 33}, 9);
  image.planes[0].row_as<float>(11)[23] = nan;
  double sum = 0;
  int count = 0;
  const auto at = [&](std::int64_t y, std::int64_t x) {
    const bool inside = y >= 0 && x >= 0 && y < 33 && x < 40;
    return inside ? static_cast<double>(image.planes[0].row_as<float>(y)[x]) : 0.0;
  };
  for (int y = 0; y < 33; ++y) {
    for (int x = 0; x < 40; ++x) {
      double mean = 0, squares = 0;
      for (int i = -1; i <= 1; ++i) {
        for (int j = -1; j <= 1; ++j) mean += at(y + i, x + j) / 9;
      }
      for (int i = -1; i <= 1; ++i) {
        for (int j = -1; j <= 1; ++j) squares += std::pow(at(y + i, x + j) - mean, 2) / 9;
      }
      if (!std::isfinite(squares)) continue;
      sum += squares;
      ++count;
    }
  }
  EXPECT_EQ(count, 40 * 33 - 9);
  const test::Ran automatic = test::run("wiener2", image);
  const test::Ran given = test::run("wiener2 noise=" + std::to_string(sum / count), image);
  for (int y = 0; y < 33; ++y) {
    for (int x = 0; x < 40; ++x) {
      const float a = automatic.image.planes[0].row_as<float>(y)[x];
      const float b = given.image.planes[0].row_as<float>(y)[x];
      EXPECT_TRUE(std::isnan(a) ? std::isnan(b) : std::fabs(a - b) < 1e-5) << y << " " << x;
    }
  }
}

// An edge far from a pixel that is NaN stays one.
TEST(NotFinite, EdgesAreFoundBesideNaN) {
  HostImage image({.cls = PixelClass::single, .channels = 1, .white = 1}, {60, 40});
  for (std::int64_t y = 0; y < 40; ++y) {
    for (int x = 0; x < 60; ++x) image.planes[0].row_as<float>(y)[x] = x < 30 ? 0.25f : 0.75f;
  }
  for (const std::string method : {"sobel", "prewitt", "roberts", "log", "canny"}) {
    const auto edges = [&](float value) {
      HostImage changed(image.type, image.size());
      for (std::int64_t y = 0; y < 40; ++y) {
        std::memcpy(changed.planes[0].row(y), image.planes[0].row(y), 60 * sizeof(float));
      }
      changed.planes[0].row_as<float>(5)[5] = value;
      int found = 0;
      const HostImage made = test::run("edge " + method, changed).image;
      for (std::int64_t y = 25; y < 40; ++y) {
        for (int x = 25; x < 35; ++x) found += made.planes[0].row_as<std::uint8_t>(y)[x];
      }
      return found;
    };
    for (const float value : {nan, inf, -inf}) EXPECT_EQ(edges(value), edges(0.25f)) << method;
  }
}

HostImage pixel(float r, float g, float b) {
  HostImage out({.cls = PixelClass::single, .channels = 3, .white = 1}, {1, 1});
  const float values[] = {r, g, b};
  for (std::size_t c = 0; c < 3; ++c) out.planes[c].row_as<float>(0)[0] = values[c];
  return out;
}

TEST(NotFinite, ANaNOfOneChannelIsSeenInAllOfHsv) {
  for (int c = 0; c < 3; ++c) {
    float values[] = {0.25f, 0.5f, 0.75f};
    values[c] = nan;
    const HostImage colour = pixel(values[0], values[1], values[2]);
    for (const char* op : {"rgb2hsv", "hsv2rgb"}) {
      for (const Plane& plane : test::run(op, colour).image.planes) {
        EXPECT_TRUE(std::isnan(plane.row_as<float>(0)[0])) << op << " with NaN in channel " << c;
      }
    }
  }
}

// 1 - min / max has no value where the largest channel is 0.
TEST(NotFinite, ColoursBelow0HaveASaturation) {
  const HostImage made = test::run("rgb2hsv", pixel(0, -0.5f, -0.25f)).image;
  EXPECT_EQ(made.planes[1].row_as<float>(0)[0], 0);
  for (const Plane& plane : made.planes) EXPECT_TRUE(std::isfinite(plane.row_as<float>(0)[0]));
}

// --- one NaN

std::uint32_t bits_at(const Plane& plane, int x) { return plane.row_as<std::uint32_t>(0)[x]; }

TEST(OneNaN, EveryNaNOfAPlaneHasItsBits) {
  Plane plane(PixelClass::single, {6, 1});
  const std::uint32_t before[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0x7f800000, 0xff800000, 0};
  for (int x = 0; x < 6; ++x) plane.row_as<std::uint32_t>(0)[x] = before[x];
  const Plane shared = plane;
  make_one_nan(plane);
  const std::uint32_t after[] = {0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7f800000, 0xff800000, 0};
  for (int x = 0; x < 6; ++x) EXPECT_EQ(bits_at(plane, x), after[x]);
  EXPECT_EQ(bits_at(shared, 1), before[1]) << "somebody else's memory";
}

TEST(OneNaN, ResultsHaveNoOther) {
  HostImage image = test::test_image(PixelClass::single, 1, {6, 1}, 3);
  const std::uint32_t strange[] = {0xffc00000, 0x7f800001, 0x7fc12345};
  std::memcpy(image.planes[0].row(0), strange, sizeof strange);
  std::vector<Place> everywhere = places();
  everywhere.push_back({"the best level", {}});
  for (const Place& place : everywhere) {
    for (const char* stage : {"fliplr | fliplr", "imadd 1", "map '(x - x) / (x - x)'", "map '-x'",
                              "as a | map 'x / 0 - a / 0'"}) {
      const HostImage made = test::run(stage, image, {}, place.options).image;
      for (int x = 0; x < 3; ++x) {
        EXPECT_EQ(bits_at(made.planes[0], x), 0x7fc00000) << stage << " at " << place.name;
      }
    }
  }
}

}  // namespace
}  // namespace impipe
