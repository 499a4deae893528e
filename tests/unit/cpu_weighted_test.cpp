// Weighted means by pairs of pixels, and of bytes with weights that may be looked up: the numbers
// of the plain loops, which the baseline runs.
#include <gtest/gtest.h>

#include "core/body.hpp"
#include "support/spec_case.hpp"

// `square` makes the weight that of a distance, whatever its sign is; `slope` does not.
IMPIPE_WEIGHTED_MEAN_BODY(test_weighted, (12, 12, 12, 12), (square, slope, reach), (int)reach,
                          exp(fma(apart* apart, square,
                                  fma(apart* real(dx - 3 * dy), slope,
                                      (real)(dx* dx + 2 * dy * dy - dx * dy) * real(-0.1)))))

namespace impipe::testing {
namespace {

struct Shape {
  double square, slope;
};

KernelSpec weighted(PixelClass cls, Border border, double outside, Shape shape, int reach) {
  SpecBuilder b;
  const Operand in = b.input(cls, 1);
  const Operand out =
      b.add(Stencil{.body = &bodies::test_weighted, .border = border}, {in},
            {shape.square, shape.slope, static_cast<double>(reach), outside}, cls, 1);
  return b.finish({out});
}

TEST(CpuWeighted, MeansAreThoseOfTheLoops) {
  std::mt19937 random(41);
  const Shape shapes[] = {{-0.0008, 0}, {-0.02, 0}, {0, 0}, {-0.0008, 0.002}};
  const std::pair<Border, double> borders[] = {{Border::replicate, 0},
                                               {Border::symmetric, 0},
                                               {Border::circular, 0},
                                               {Border::constant, 7},
                                               {Border::constant, 7.5}};
  int turn = 0;
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Size size : {Size{64, 64}, Size{701, 9}, Size{5, 200}, Size{9, 3}, Size{1, 1}}) {
      const std::vector<SpecResult> inputs{random_image(random, cls, 1, size, true)};
      for (const auto& [border, outside] : borders) {
        for (const int reach : {0, 1, 2, 3, 12}) {
          if (reach == 12 && (size != Size{64, 64} || border != Border::replicate)) continue;
          const Shape shape = shapes[turn++ % 4];
          const KernelSpec spec = weighted(cls, border, outside, shape, reach);
          const SpecResult plain = run_spec(spec, inputs, CpuLevel::baseline, 1)[0];
          for (const CpuLevel level : usable_levels()) {
            if (level == CpuLevel::baseline) continue;
            ASSERT_EQ(difference(run_spec(spec, inputs, level, 2)[0], plain), "")
                << name_of(cls) << " " << to_string(size) << ", border " << name_of(border) << " "
                << outside << ", reach " << reach << ", weights " << shape.square << " "
                << shape.slope << ", level " << static_cast<int>(level);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace impipe::testing
