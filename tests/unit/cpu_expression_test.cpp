// Users' own bodies on the CPU: points, stencils, reductions and histograms of expressions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/expression.hpp"
#include "support/spec_case.hpp"

namespace impipe::testing {
namespace {

using enum PixelClass;

std::shared_ptr<const Expression> parsed(std::string_view text, std::vector<std::string> names,
                                         bool taps = false) {
  return std::make_shared<const Expression>(
      parse_expression(text, {.known = std::move(names), .others = true, .taps = taps}));
}

// (x, y, c) -> expected
using Expected = std::function<double(const SpecImage&, std::int64_t, std::int64_t, int)>;

void check_image(const KernelSpec& spec, const Expected& expected) {
  std::mt19937 random(11);
  for (const Size size : {Size{1, 1}, Size{31, 17}, Size{530, 140}}) {
    const KernelInput& input = spec.inputs[0];
    const SpecResult in = random_image(random, input.cls, input.channels, size, false);
    const Node& node = spec.nodes.back();
    for (const CpuLevel level : usable_levels()) {
      const SpecImage got = run_spec(spec, {in}, level, 2)[0].image;
      for (std::int64_t y = 0; y < size.height; ++y) {
        for (std::int64_t x = 0; x < size.width; ++x) {
          for (int c = 0; c < node.channels; ++c) {
            ASSERT_EQ(got.at(x, y, c), expected(in.image, x, y, c)) << x << " " << y << " " << c;
          }
        }
      }
    }
  }
}

double code(double v) { return std::round(std::clamp(v, 0.0, 255.0)); }

TEST(CpuExpression, PointsMayUsePlaceSizeAndWhite) {
  for (const int channels : {1, 3}) {
    SpecBuilder b;
    const Operand in = b.input(uint8, channels, 255);
    const Operand out =
        b.add(Point{.expression = parsed("x * 0.25 + col - row + (width > height) + white / 51",
                                         {"x", "col", "row", "width", "height", "white"})},
              {in}, {}, uint8, channels);
    check_image(b.finish({out}), [](const SpecImage& i, std::int64_t x, std::int64_t y, int c) {
      return code(i.at(x, y, c) * 0.25 + static_cast<double>(x - y) + (i.width > i.height ? 1 : 0) +
                  5);
    });
  }
}

TEST(CpuExpression, PointsMayMixChannels) {
  SpecBuilder b;
  const Operand in = b.input(uint8, 3);
  const Operand out =
      b.add(Point{.expression = parsed("b - r / 2 + g", {"r", "g", "b"}), .mixes_channels = true},
            {in}, {}, uint8, 1);
  check_image(b.finish({out}), [](const SpecImage& i, std::int64_t x, std::int64_t y, int) {
    return code(i.at(x, y, 2) - i.at(x, y, 0) / 2 + i.at(x, y, 1));
  });
}

TEST(CpuExpression, StencilsReadTheirTaps) {
  const auto expression = parsed("max(at(-1, 0), at(2, 1)) - at(0, -1) / 2", {}, true);
  Mask taps = rectangle(4, 3, 1, 1);
  for (const int channels : {1, 3}) {
    SpecBuilder b;
    const Operand in = b.input(uint8, channels);
    const Operand out =
        b.add(Stencil{.expression = expression, .taps = taps, .border = Border::replicate}, {in},
              {}, uint8, channels);
    check_image(b.finish({out}), [](const SpecImage& i, std::int64_t x, std::int64_t y, int c) {
      const auto at = [&](std::int64_t dx, std::int64_t dy) {
        return i.at(std::clamp<std::int64_t>(x + dx, 0, i.width - 1),
                    std::clamp<std::int64_t>(y + dy, 0, i.height - 1), c);
      };
      return code(std::max(at(-1, 0), at(2, 1)) - at(0, -1) / 2);
    });
  }
}

TEST(CpuExpression, ReductionsAndHistograms) {
  std::mt19937 random(11);
  for (const PixelClass cls : {uint8, single}) {
    for (const Size size : {Size{1, 1}, Size{33, 65}, Size{530, 140}}) {
      SpecBuilder b;
      const Operand in = b.input(cls, 3, class_max(cls));
      const Operand largest = b.measure(
          Reduce{.kind = ReduceKind::user, .expression = parsed("max(acc, x)", {"acc", "x"})}, in,
          {-5}, 3, 1);
      const Operand bins = b.measure(
          Histogram{.rule = BinRule::user, .bins = 5, .expression = parsed("x / 50 - 1", {"x"})},
          in, {}, 3, 5);
      const KernelSpec spec = b.finish({largest, bins});
      const SpecResult image = random_image(random, cls, 3, size, false);
      std::vector<double> most(3, -5.0), counts(15, 0.0);
      for (std::size_t i = 0; i < image.image.values.size(); ++i) {
        const double v = image.image.values[i];
        most[i % 3] = std::max(most[i % 3], v);
        const double bin = std::floor(v / 50 - 1);
        if (bin >= 0 && bin < 5) ++counts[i % 3 * 5 + static_cast<std::size_t>(bin)];
      }
      for (const int threads : {1, 2, 5}) {
        const auto got = run_spec(spec, {image}, usable_levels().back(), threads);
        EXPECT_EQ(got[0].measure, most);
        EXPECT_EQ(got[1].measure, counts);
      }
    }
  }
}

}  // namespace
}  // namespace impipe::testing
