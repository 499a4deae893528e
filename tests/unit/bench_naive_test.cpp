// When a plain loop's result counts as the device's.
#include <gtest/gtest.h>

#include <cmath>

#include "bench/naive/loops.hpp"

namespace impipe {
namespace {

using engine::Outcome;

Outcome image_of(PixelClass cls, double value, double last) {
  Outcome outcome;
  outcome.image = HostImage({.cls = cls, .channels = 1, .alpha = false, .white = 1}, {100, 200});
  const auto set = [&]<class T>(T) {
    for (std::int64_t y = 0; y < 200; ++y) {
      for (std::int64_t x = 0; x < 100; ++x) {
        outcome.image.planes[0].row_as<T>(y)[x] = static_cast<T>(value);
      }
    }
    outcome.image.planes[0].row_as<T>(199)[99] = static_cast<T>(last);
  };
  cls == PixelClass::single ? set(float{}) : set(std::uint8_t{});
  return outcome;
}

Outcome numbers_of(std::vector<double> numbers) {
  Outcome outcome;
  outcome.measurements = {{.channels = 1, .values = 2, .numbers = std::move(numbers)}};
  return outcome;
}

TEST(Naive, AgreesWithinACode) {
  const Outcome device = image_of(PixelClass::uint8, 7, 9);
  EXPECT_TRUE(bench::naive::agrees(device, image_of(PixelClass::uint8, 7, 10)));
  EXPECT_FALSE(bench::naive::agrees(device, image_of(PixelClass::uint8, 7, 11)));
  EXPECT_FALSE(bench::naive::agrees(device, image_of(PixelClass::single, 7, 9)));
  EXPECT_FALSE(bench::naive::agrees(device, Outcome{}));
}

TEST(Naive, AgreesOnMasksButForOnePixelInTenThousand) {
  const Outcome device = image_of(PixelClass::logical, 0, 0);
  Outcome loop = image_of(PixelClass::logical, 0, 1);
  EXPECT_TRUE(bench::naive::agrees(device, loop));
  for (int x = 0; x < 2; ++x) loop.image.planes[0].row_as<std::uint8_t>(0)[x] = 1;
  EXPECT_FALSE(bench::naive::agrees(device, loop));
}

TEST(Naive, AgreesOnNumbersToAHundredThousandthOfTheLargest) {
  const Outcome device = image_of(PixelClass::single, 100, 1);
  EXPECT_TRUE(bench::naive::agrees(device, image_of(PixelClass::single, 100, 1.0009)));
  EXPECT_FALSE(bench::naive::agrees(device, image_of(PixelClass::single, 100, 1.002)));
  EXPECT_FALSE(bench::naive::agrees(device, image_of(PixelClass::single, 100, NAN)));
  EXPECT_TRUE(bench::naive::agrees(numbers_of({1, INFINITY}), numbers_of({1, INFINITY})));
  EXPECT_FALSE(bench::naive::agrees(numbers_of({1, INFINITY}), numbers_of({1, 5})));
  EXPECT_FALSE(bench::naive::agrees(numbers_of({1, 2}), numbers_of({1})));
}

}  // namespace
}  // namespace impipe
