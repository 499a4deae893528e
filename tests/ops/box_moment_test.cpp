// Means, variances and covariances under rectangles against their definition, written as loops.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "core/region.hpp"
#include "support/spec_case.hpp"

namespace impipe {
namespace {

using Of = Moments::Of;
using testing::SpecImage;
using testing::SpecResult;

// Sums in float32 of pairs of values counted from the first of them.
struct PairSums {
  float first_from = 0, second_from = 0, first = 0, second = 0, products = 0;
  void take(float v, float w) {
    const float apart = v - first_from, second_apart = w - second_from;
    first += apart;
    second += second_apart;
    products = std::fma(apart, second_apart, products);
  }
  float rest(float part) const { return products - first * part * second; }
};

float value(const SpecImage& image, std::int64_t x, std::int64_t y, Border border) {
  const std::int64_t column = map_outside(x, image.width, border);
  const std::int64_t at_row = map_outside(y, image.height, border);
  return column < 0 || at_row < 0 ? 0.0f : static_cast<float>(image.at(column, at_row, 0));
}

// core/kernel_spec.hpp, Moments, by passes.
float moment(const Moments& what, const SpecImage& a, const SpecImage& b, std::int64_t x,
             std::int64_t y) {
  const Mask& mask = what.mask;
  const float down = 1.0f / static_cast<float>(mask.height);
  const float across = 1.0f / static_cast<float>(mask.width);
  const auto cut = [&](float rest) { return what.of != Of::covariance && rest < 0 ? 0 : rest; };
  PairSums means;
  float within = 0;
  for (int j = 0; j < mask.width; ++j) {
    PairSums column;
    for (int i = 0; i < mask.height; ++i) {
      const float v = value(a, x - mask.origin_x + j, y - mask.origin_y + i, what.border);
      const float w = value(b, x - mask.origin_x + j, y - mask.origin_y + i, what.border);
      if (i == 0) column.first_from = v, column.second_from = w;
      column.take(v, w);
    }
    const float v = std::fma(column.first, down, column.first_from);
    const float w = std::fma(column.second, down, column.second_from);
    if (j == 0) means.first_from = v, means.second_from = w;
    means.take(v, w);
    within += cut(column.rest(down));
  }
  if (what.of == Of::mean) return std::fma(means.first, across, means.first_from);
  const auto cells = static_cast<float>(mask.width) * static_cast<float>(mask.height);
  const float products = std::fma(static_cast<float>(mask.height), cut(means.rest(across)), within);
  return products * (1.0f / cells);
}

TEST(BoxMoments, AreTheirDefinitionToTheLastBit) {
  std::mt19937 random(7);
  for (const Of of : {Of::mean, Of::variance, Of::covariance}) {
    for (const Border border : {Border::replicate, Border::constant, Border::symmetric}) {
      for (const auto& [wide, tall] :
           {std::pair(1, 1), {3, 3}, {8, 5}, {17, 33}, {255, 2}, {2, 255}}) {
        for (const PixelClass cls : {PixelClass::single, PixelClass::uint16}) {
          const Moments what{testing::rectangle(wide, tall, (wide - 1) / 2, (tall - 1) / 2), of,
                             border};
          testing::SpecBuilder builder;
          std::vector<Operand> images{builder.input(cls, 1)};
          const Size size{70, 41};
          std::vector<SpecResult> inputs{testing::random_image(random, cls, 1, size, true)};
          if (of == Of::covariance) {
            images.push_back(builder.input(PixelClass::single, 1));
            inputs.push_back(testing::random_image(random, PixelClass::single, 1, size, true));
          }
          const KernelSpec spec =
              builder.finish({builder.add(what, images, {}, PixelClass::single, 1)});
          SpecResult wanted = inputs.front();
          wanted.image.cls = PixelClass::single;
          for (std::int64_t y = 0; y < size.height; ++y) {
            for (std::int64_t x = 0; x < size.width; ++x) {
              wanted.image.at(x, y, 0) =
                  moment(what, inputs.front().image, inputs.back().image, x, y);
            }
          }
          for (const CpuLevel level : testing::usable_levels()) {
            const SpecResult made = testing::run_spec(spec, inputs, level, 2).front();
            EXPECT_EQ(testing::difference(wanted, made), "") << spec.key();
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace impipe
