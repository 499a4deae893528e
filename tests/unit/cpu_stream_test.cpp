// Results that are written past the caches: the bytes that plain copies make, wherever rows begin
// and end, and whole images of each kind of step that does so.
#include <gtest/gtest.h>

#include "backends/cpu/tile/rows.hpp"
#include "core/body.hpp"
#include "support/spec_case.hpp"

IMPIPE_POINT_BODY(test_streamed, (x), (scale, add), { return x * scale + add; })
IMPIPE_POINT_BODY(test_streamed_power, (x), (gamma), { return pow(x, gamma); })
IMPIPE_POINT_BODY(test_streamed_mix, (r, g, b), (k), { return k * r - g / (b + real(1)); })

namespace impipe::testing {
namespace {

TEST(CpuStream, CopiesBytesAnywhere) {
  std::vector<std::byte> in(700), out(900);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>(i * 37 + 1);
  for (const CpuLevel level : usable_levels()) {
    for (std::size_t offset = 0; offset < 70; ++offset) {
      for (std::size_t bytes = 0; bytes < 420; bytes += bytes < 200 ? 1 : 29) {
        std::fill(out.begin(), out.end(), std::byte{0});
        cpu::stream_row(out.data() + offset, in.data() + offset % 7,
                        static_cast<std::int64_t>(bytes), level);
        cpu::end_streams();
        for (std::size_t i = 0; i < out.size(); ++i) {
          const bool copied = i >= offset && i < offset + bytes;
          ASSERT_EQ(out[i], copied ? in[i - offset + offset % 7] : std::byte{0})
              << offset << ", " << bytes << ", " << i;
        }
      }
    }
  }
}

// A width whose rows begin and end anywhere; the result is more than caches keep.
constexpr Size large{1999, 2211};

Mask diamond(int radius) {
  const int side = 2 * radius + 1;
  Mask mask = rectangle(side, side, radius, radius);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      mask.cells[static_cast<std::size_t>(y * side + x)] =
          std::abs(x - radius) + std::abs(y - radius) <= radius;
    }
  }
  return mask;
}

struct Streamed {
  KernelSpec spec;
  PixelClass cls;
  int channels;
};

std::vector<Streamed> streamed() {
  std::vector<Streamed> all;
  const auto add = [&](const auto& primitive, const std::vector<double>& args,
                       PixelClass cls = PixelClass::single, int channels = 1) {
    SpecBuilder b;
    const Operand in = b.input(cls, channels);
    all.push_back({b.finish({b.add(primitive, {in}, args, cls, channels)}), cls, channels});
  };
  add(Point{.body = &bodies::test_streamed}, {0.7, 3});
  add(Permute{.flip_y = true}, {});
  add(Separable{.row = rectangle(3, 1, 1, 0),
                .column = rectangle(1, 3, 0, 1),
                .border = Border::replicate},
      {0.25, 0.5, 0.25, 0.25, 0.5, 0.25, 0});
  add(Rank{.mask = rectangle(3, 3, 1, 1), .rank = 4}, {0});
  add(Rank{.mask = rectangle(5, 5, 2, 2), .rank = 12}, {0});
  add(Rank{.mask = rectangle(5, 5, 2, 2), .rank = 12}, {0}, PixelClass::uint16, 2);
  add(Rank{.mask = rectangle(3, 3, 1, 1), .rank = 3}, {0});
  add(Resample{.method = Resample::Method::bilinear}, {0, 0, 1.01, 1.003});
  add(Resample{.method = Resample::Method::bilinear}, {0, 0, 2, 2}, PixelClass::uint16);
  add(Resample{.method = Resample::Method::bicubic}, {0, 0, 1.43, 1.4}, PixelClass::uint16);
  return all;
}

TEST(CpuStream, LargeResultsAreThoseOfTheBaseline) {
  ASSERT_GT(large.pixels() * 4, cpu::kept_in_caches);
  std::mt19937 random(9);
  int number = 0;
  for (const auto& [spec, cls, channels] : streamed()) {
    const std::vector<SpecResult> inputs{random_image(random, cls, channels, large, false)};
    const SpecResult expected = run_spec(spec, inputs, CpuLevel::baseline, 1)[0];
    for (const CpuLevel level : usable_levels()) {
      ASSERT_EQ(difference(run_spec(spec, inputs, level, 2)[0], expected), "")
          << "spec " << number << ", level " << static_cast<int>(level);
    }
    ++number;
  }
}

TEST(CpuStream, LargeExtrema) {
  std::mt19937 random(12);
  for (const Mask& mask : {rectangle(3, 3, 1, 1), rectangle(2, 9, 0, 5), rectangle(1, 3, 0, 1),
                           rectangle(3, 1, 1, 0), diamond(2)}) {
    SpecBuilder b;
    const Operand in = b.input(PixelClass::single, 1);
    const KernelSpec spec =
        b.finish({b.add(Extremum{.mask = mask}, {in}, {}, PixelClass::single, 1)});
    const std::vector<SpecResult> inputs{random_image(random, PixelClass::single, 1, large, false)};
    const SpecResult expected = evaluate_spec(spec, inputs)[0];
    for (const CpuLevel level : usable_levels()) {
      ASSERT_EQ(difference(run_spec(spec, inputs, level, 2)[0], expected), "")
          << mask.width << "x" << mask.height << ", level " << static_cast<int>(level);
    }
  }
}

TEST(CpuStream, LargeTablesOfSingles) {
  std::mt19937 random(11);
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16}) {
    SpecBuilder b;
    const Operand in = b.input(cls, 1);
    const Operand out =
        b.add(Point{.body = &bodies::test_streamed_power}, {in}, {0.7}, PixelClass::single, 1);
    const KernelSpec spec = b.finish({out});
    const std::vector<SpecResult> inputs{random_image(random, cls, 1, large, false)};
    const SpecResult expected = run_spec(spec, inputs, CpuLevel::baseline, 1)[0];
    for (const CpuLevel level : usable_levels()) {
      ASSERT_EQ(difference(run_spec(spec, inputs, level, 2)[0], expected), "")
          << name_of(cls) << ", level " << static_cast<int>(level);
    }
  }
}

TEST(CpuStream, LargePointsOfTheSamePlanes) {
  std::mt19937 random(10);
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16}) {
    SpecBuilder b;
    const Operand in = b.input(cls, 3);
    std::vector<Operand> outputs;
    for (const double k : {0.3, 2.5}) {
      outputs.push_back(b.add(Point{.body = &bodies::test_streamed_mix, .mixes_channels = true},
                              {in}, {k}, PixelClass::single, 1));
    }
    const KernelSpec spec = b.finish(outputs);
    const std::vector<SpecResult> inputs{random_image(random, cls, 3, large, false)};
    const std::vector<SpecResult> all = evaluate_spec(spec, inputs);
    for (const CpuLevel level : usable_levels()) {
      const std::vector<SpecResult> made = run_spec(spec, inputs, level, 2);
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        ASSERT_EQ(difference(made[i], all[spec.outputs[i]]), "")
            << name_of(cls) << ", output " << i << ", level " << static_cast<int>(level);
      }
    }
  }
}

}  // namespace
}  // namespace impipe::testing
