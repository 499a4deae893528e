// Weighted means of bytes, whose weights may be looked up: the codes of the plain loops, which the
// baseline runs.
#include <gtest/gtest.h>

#include "core/body.hpp"
#include "support/spec_case.hpp"

// `square` makes the weight that of a distance, whatever its sign is; `slope` does not.
IMPIPE_WEIGHTED_MEAN_BODY(test_weighted, (3, 3, 3, 3), (square, slope, reach), (int)reach,
                          exp(fma(apart* apart, square,
                                  fma(apart, slope, (real)(dx + 2 * dy * dy) * real(-0.1)))))

namespace impipe::testing {
namespace {

KernelSpec weighted(Border border, double outside, double square, double slope, int reach) {
  SpecBuilder b;
  const Operand in = b.input(PixelClass::uint8, 1);
  const Operand out =
      b.add(Stencil{.body = &bodies::test_weighted, .border = border}, {in},
            {square, slope, static_cast<double>(reach), outside}, PixelClass::uint8, 1);
  return b.finish({out});
}

TEST(CpuWeighted, MeansAreThoseOfTheLoops) {
  std::mt19937 random(41);
  const std::pair<double, double> shapes[] = {{-0.0008, 0}, {-0.02, 0}, {0, 0}, {-0.0008, 0.01}};
  const std::pair<Border, double> borders[] = {{Border::replicate, 0},
                                               {Border::symmetric, 0},
                                               {Border::circular, 0},
                                               {Border::constant, 7},
                                               {Border::constant, 7.5}};
  int turn = 0;
  for (const Size size : {Size{64, 64}, Size{701, 30}, Size{5, 900}, Size{9, 3}}) {
    const std::vector<SpecResult> inputs{random_image(random, PixelClass::uint8, 1, size, false)};
    for (const auto& [border, outside] : borders) {
      for (const int reach : {1, 3}) {
        const auto& [square, slope] = shapes[turn++ % 4];
        const KernelSpec spec = weighted(border, outside, square, slope, reach);
        const SpecResult plain = run_spec(spec, inputs, CpuLevel::baseline, 1)[0];
        for (const CpuLevel level : usable_levels()) {
          if (level == CpuLevel::baseline) continue;
          ASSERT_EQ(difference(run_spec(spec, inputs, level, 1)[0], plain), "")
              << to_string(size) << ", border " << name_of(border) << " " << outside << ", reach "
              << reach << ", weights " << square << " " << slope << ", level "
              << static_cast<int>(level);
        }
      }
    }
  }
}

}  // namespace
}  // namespace impipe::testing
