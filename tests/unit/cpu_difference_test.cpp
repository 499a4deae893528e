// How far apart two images of bytes are, and the sums of its squares, which have ways of their own:
// against loops over the definition, on every instruction set.
#include <gtest/gtest.h>

#include <cmath>

#include "core/body.hpp"
#include "support/spec_case.hpp"

IMPIPE_POINT_BODY(test_apart, (x, y), (), { return abs(x - y); })
// The same for all pairs of bytes but one.
IMPIPE_POINT_BODY(test_nearly_apart, (x, y), (),
                  { return x == real(255) && y == real(254) ? real(0) : abs(x - y); })

namespace impipe::testing {
namespace {

// Of more pixels than a trial of all pairs takes, with and without gaps between rows.
constexpr Size sizes[] = {{2048, 400}, {701, 411}, {300001, 1}};

struct Pair {
  const char* name;
  int low, high;  // the codes of the one; the other's are 255 less
};
constexpr Pair pairs[] = {{"noise", 0, 255}, {"black and white", 255, 255}, {"bright", 250, 255}};

std::vector<SpecResult> drawn(const Pair& pair, Size size, std::mt19937& random) {
  std::vector<SpecResult> images{random_image(random, PixelClass::uint8, 1, size, false),
                                 random_image(random, PixelClass::uint8, 1, size, false)};
  std::uniform_int_distribution<int> code(pair.low, pair.high);
  for (double& value : images[0].image.values) value = code(random);
  for (double& value : images[1].image.values) value = 255 - code(random);
  return images;
}

double apart(double x, double y, bool nearly) {
  return nearly && x == 255 && y == 254 ? 0 : std::abs(x - y);
}

// The differences, or the sum of their squared distances from `from`.
void check(const PointBody& body, double from, bool as_image) {
  std::mt19937 random(21);
  SpecBuilder b;
  const Operand first = b.input(PixelClass::uint8, 1), second = b.input(PixelClass::uint8, 1);
  const Operand image = b.add(Point{.body = &body}, {first, second}, {}, PixelClass::uint8, 1);
  const Operand sum = b.measure(Reduce{.kind = ReduceKind::squared_deviation}, image, {from}, 1, 1);
  const KernelSpec spec = b.finish({as_image ? image : sum});
  for (const Size size : sizes) {
    for (const Pair& pair : pairs) {
      const std::vector<SpecResult> images = drawn(pair, size, random);
      SpecResult wanted = images[0];
      double squares = 0;
      for (std::size_t i = 0; i < wanted.image.values.size(); ++i) {
        double& value = wanted.image.values[i];
        value = apart(value, images[1].image.values[i], &body != &bodies::test_apart);
        squares += (value - from) * (value - from);
      }
      if (!as_image) wanted = {.measure = {squares}};
      for (const CpuLevel level : usable_levels()) {
        for (const int threads : {1, 3}) {
          ASSERT_EQ(difference(run_spec(spec, images, level, threads)[0], wanted), "")
              << pair.name << ", " << to_string(size) << ", level " << static_cast<int>(level);
        }
      }
    }
  }
}

TEST(CpuDifference, IsThatOfAllPairs) {
  check(bodies::test_apart, 0, true);
  check(bodies::test_nearly_apart, 0, true);
}

TEST(CpuDifference, HasTheSumOfItsSquares) {
  check(bodies::test_apart, 0, false);
  check(bodies::test_apart, 3, false);
  check(bodies::test_nearly_apart, 0, false);
}

}  // namespace
}  // namespace impipe::testing
