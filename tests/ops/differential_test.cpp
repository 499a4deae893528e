// Random pipelines give the same bits fused and not, at every instruction set of the CPU, and on
// the other backends. IMPIPE_TEST_SEEDS says how many are tried, IMPIPE_TEST_FIRST_SEED from where,
// IMPIPE_TEST_WALK the device of the walks over small images and large parameters (opencl, cuda).
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <random>

#include "backends/registry.hpp"
#include "support/large_pipelines.hpp"
#include "support/pipeline_runner.hpp"
#include "support/random_pipeline.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr || *text == 0 ? otherwise : std::strtoull(text, nullptr, 10);
}

// A result, or the message of a refusal.
struct Outcome {
  test::Ran ran;
  std::string refused;
};

Outcome outcome_of(const test::RandomRun& what, const test::RunOptions& options) {
  try {
    return {test::run(what.text, what.image, what.operands, options), ""};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::string difference(const Outcome& a, const Outcome& b) {
  if (a.refused != b.refused) return "'" + a.refused + "' and '" + b.refused + "'";
  if (!a.refused.empty()) return "";
  if (a.ran.measurement.size() != b.ran.measurement.size()) return "sizes of measurements";
  for (std::size_t i = 0; i < a.ran.measurement.size(); ++i) {
    const double x = a.ran.measurement[i], y = b.ran.measurement[i];
    if (!same(x, y)) {
      return "measurement " + std::to_string(i) + ": " + std::to_string(x) + " and " +
             std::to_string(y);
    }
  }
  if (a.ran.image.empty() != b.ran.image.empty()) return "one has no image";
  return a.ran.image.empty() ? "" : test::difference(a.ran.image, b.ran.image);
}

void compare(std::uint64_t seed, const Outcome& expected, const test::RandomRun& what,
             const char* name, const test::RunOptions& options) {
  const std::string found = difference(expected, outcome_of(what, options));
  EXPECT_EQ(found, "") << "seed " << seed << ", " << name << ": `" << what.text << "` on "
                       << test::describe(what.image);
}

TEST(Differential, RandomPipelinesAgreeWhereverTheyRun) {
  const std::uint64_t first = number_of("IMPIPE_TEST_FIRST_SEED", 1);
  const std::uint64_t count = number_of("IMPIPE_TEST_SEEDS", 150);
  const bool opencl = test::has_device("opencl");
  // A few, since a compiler runs for each; all of them where many seeds are asked for.
  const std::uint64_t every = count > 1000 ? 3 : 15;
  std::uint64_t refused = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const test::RandomRun what = test::random_run(seed);
    const Outcome expected = outcome_of(what, {});
    refused += !expected.refused.empty();
    compare(seed, expected, what, "not fused", {.fuse = false});
    compare(seed, expected, what, "baseline", {.level = CpuLevel::baseline});
    if (test::has_level(CpuLevel::v3)) {
      compare(seed, expected, what, "v3", {.level = CpuLevel::v3});
    }
    if (!opencl || !expected.refused.empty() || seed % every != 0) continue;
    compare(seed, expected, what, "opencl", {.backend = "opencl"});
  }
  // Most must run, or the test says nothing.
  EXPECT_LT(refused, count * 2 / 3) << "of " << count;
  RecordProperty("refused", static_cast<int>(refused));
}

// The image and two others as a stack; each as the CPU alone makes it.
void compare_stack(std::uint64_t seed, const test::RandomRun& what,
                   const test::RunOptions& options) {
  std::vector<HostImage> images{what.image};
  const ImageType& type = what.image.type;
  for (const std::uint64_t other : {seed + 3, seed + 4}) {
    images.push_back(test::test_image(type.cls, type.channels, what.image.size(), other));
    images.back().type = type;
    if (type.alpha) images.back().alpha = what.image.alpha;
  }
  const std::vector<test::Ran> found = test::run_stack(what.text, images, what.operands, options);
  for (std::size_t i = 0; i < found.size(); ++i) {
    test::RandomRun alone = what;
    alone.image = images[i];
    const Outcome expected = outcome_of(alone, {.backend = "cpu"});
    EXPECT_EQ(difference(expected, {found[i], ""}), "")
        << "seed " << seed << ", image " << i << " of a stack: `" << what.text << "` on "
        << test::describe(what.image);
  }
}

// Every seed on the device, so that scripts/test.sh can take Oclgrind's and look for stray
// accesses.
TEST(Differential, SmallImagesOnADevice) {
  const char* named = std::getenv("IMPIPE_TEST_WALK");
  const std::string device = named == nullptr ? "opencl" : named;
  if (!test::has_device(device)) GTEST_SKIP() << "no " << device;
  const std::uint64_t first = number_of("IMPIPE_TEST_FIRST_SEED", 1);
  const std::uint64_t count = number_of("IMPIPE_TEST_SEEDS", 10);
  std::uint64_t ran = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const test::RandomRun what = test::small_random_run(seed);
    const Outcome expected = outcome_of(what, {.backend = "cpu"});
    if (!expected.refused.empty()) continue;
    ++ran;
    const test::RunOptions options{
        .fuse = seed % 4 != 0, .backend = device, .compile_aside = false};
    compare(seed, expected, what, device.c_str(), options);
    if (seed % 3 == 0) compare_stack(seed, what, options);
  }
  test::close_devices();
  EXPECT_GE(ran, count / 10) << "of " << count;
}

// A stage's result and the stage itself may each have a white of their own in one kernel.
TEST(Differential, WhitesOfOneKernelAreKeptApart) {
  if (!test::has_device("opencl")) GTEST_SKIP() << "no opencl";
  const HostImage image = test::test_image(PixelClass::uint8, 1, {33, 3}, 1);
  for (const char* text : {"im2single | map 'abs(x - white / 2)' class=uint8",
                           "im2single | stencil 'white - at(1,0)' r1"}) {
    const test::RandomRun what{.text = text, .image = image, .operands = {}};
    compare(0, outcome_of(what, {.backend = "cpu"}), what, "opencl", {.backend = "opencl"});
  }
}

// Every function of every eighth of the rows.
std::string functions_by_rows(const std::vector<std::string>& functions) {
  std::string text = functions.back();
  for (std::size_t i = functions.size() - 1; i-- > 0;) {
    text = "8 * row < " + std::to_string(i + 1) + " * height ? " + functions[i] + " : " + text;
  }
  return "map '" + text + "'";
}

// Of all kinds of floats, and of doubles, whose last bits a pixel of 16 bits shows.
TEST(Differential, FunctionsHaveTheSameBitsOnADevice) {
  const char* named = std::getenv("IMPIPE_TEST_WALK");
  const std::string device = named == nullptr ? "opencl" : named;
  if (!test::has_device(device)) GTEST_SKIP() << "no " << device;
  const Size size{512, 128};
  HostImage floats[2] = {test::test_image_with_specials(1, size, 1),
                         test::test_image_with_specials(1, size, 2)};
  std::mt19937_64 random(3);
  for (HostImage& image : floats) {
    for (std::int64_t y = 0; y < size.height; ++y) {
      float* const row = image.planes[0].row_as<float>(y);
      for (std::int64_t x = 0; x < size.width; x += 2) {
        row[x] = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
      }
    }
  }
  const auto digits = [](const std::string& value) {
    const std::string scaled = "(" + value + ") * 1125899906842624";  // 2^50
    return scaled + " - floor(" + scaled + " / 65536) * 65536";
  };
  const test::RandomRun runs[] = {
      {.text = functions_by_rows(
           {"x ^ b", "x ^ 0.45", "exp(x)", "log(x)", "sin(x)", "cos(x)", "tan(x)", "atan2(x, b)"}),
       .image = floats[0],
       .operands = {{"b", floats[1]}}},
      {.text =
           functions_by_rows({digits("(x / 9000) ^ (b / 30000 - 1)"), digits("(x / 9000) ^ 0.45"),
                              digits("exp(x / 20000)"), digits("log(x)"), digits("sin(x * 37.1)"),
                              digits("cos(x * 0.001)"), digits("tan(x * 12345678.9)"),
                              digits("atan2(x - 30000, b - 20000)")}),
       .image = test::test_image(PixelClass::uint16, 1, size, 4),
       .operands = {{"b", test::test_image(PixelClass::uint16, 1, size, 5)}}}};
  for (const test::RandomRun& what : runs) {
    const Outcome expected = outcome_of(what, {.backend = "cpu"});
    EXPECT_EQ(expected.refused, "");
    compare(0, expected, what, device.c_str(), {.backend = device, .compile_aside = false});
  }
  test::close_devices();
}

// Minutes of compiling: only where a device is named. The seeds are places in the list, from 1.
TEST(Differential, LargeParametersOnADevice) {
  const char* device = std::getenv("IMPIPE_TEST_WALK");
  if (device == nullptr) GTEST_SKIP() << "IMPIPE_TEST_WALK names no device";
  if (!test::has_device(device)) GTEST_SKIP() << "no " << device;
  const std::vector<test::RandomRun> runs = test::large_runs();
  const std::uint64_t first = number_of("IMPIPE_TEST_FIRST_SEED", 1);
  const std::uint64_t end = first + number_of("IMPIPE_TEST_SEEDS", runs.size());
  for (std::uint64_t i = first; i < end && i <= runs.size(); ++i) {
    const test::RandomRun& what = runs[i - 1];
    const Outcome expected = outcome_of(what, {.backend = "cpu"});
    EXPECT_EQ(expected.refused, "") << what.text.substr(0, 100);
    compare(i, expected, what, device, {.backend = device, .compile_aside = false});
  }
  test::close_devices();
}

}  // namespace
}  // namespace impipe
