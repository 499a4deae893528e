// Extrema on the CPU against the naive ones, for every method, class and instruction set.
#include "backends/cpu/neighbourhood/extremum.hpp"

#include <gtest/gtest.h>

#include "support/masks.hpp"
#include "support/tile_case.hpp"

namespace impipe::testing {
namespace {

using cpu::ExtremumPlan;
using cpu::MaskRun;
using reference::Pixels;

template <class T>
Pixels fast(const Extremum& extremum, PixelClass cls, const Pixels& in, CpuLevel level,
            bool absent = false) {
  cpu::Scratch scratch;
  const double nothing = nothing_of(cls, extremum.largest);
  return run_tile<T>(
      in, extremum.mask, [&](std::int64_t, std::int64_t, int) { return nothing; },
      [&](const cpu::RowsView& view, cpu::TileOut out) {
        cpu::run_extremum(extremum, cls, view, out, scratch, level);
      },
      absent);
}

Pixels fast(const Extremum& extremum, PixelClass cls, const Pixels& in, CpuLevel level,
            bool absent = false) {
  switch (cls) {
    case PixelClass::uint16: return fast<std::uint16_t>(extremum, cls, in, level, absent);
    case PixelClass::single: return fast<float>(extremum, cls, in, level, absent);
    default: return fast<std::uint8_t>(extremum, cls, in, level, absent);
  }
}

// One random image of this size through every instruction set.
void check(std::mt19937& random, const Mask& mask, std::int64_t width, std::int64_t height) {
  const auto cls = static_cast<PixelClass>(random() % 4);
  const Extremum extremum{.largest = random() % 2 == 0, .mask = mask};
  const Pixels in = random_pixels(random, cls, width, height, true);
  const Pixels expected =
      reference::extremum(in, mask, extremum.largest, nothing_of(cls, extremum.largest));
  const bool absent = random() % 2 == 0;
  for (const CpuLevel level : levels_here()) {
    EXPECT_EQ(differences(fast(extremum, cls, in, level, absent), expected), 0)
        << name_of(cls) << ", " << width << "x" << height << ", "
        << (extremum.largest ? "largest" : "smallest") << (absent ? ", sides absent" : "")
        << ", level " << static_cast<int>(level) << ", mask " << describe(mask);
  }
}

std::int64_t size_up_to(std::mt19937& random, int most) {
  return 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(most));
}

TEST(CpuExtremum, Rectangles) {
  std::mt19937 random(1);
  for (int w = 1; w <= 9; ++w) {
    for (int h = 1; h <= 9; ++h) {
      for (int repeat = 0; repeat < 6; ++repeat) {
        check(random, rectangle(w, h), size_up_to(random, 70), size_up_to(random, 20));
      }
    }
  }
}

TEST(CpuExtremum, LargeRectangles) {
  std::mt19937 random(2);
  for (const int side : {10, 15, 16, 31, 32, 33, 63, 101}) {
    for (int repeat = 0; repeat < 4; ++repeat) {
      check(random, rectangle(side, 1), size_up_to(random, 70), size_up_to(random, 5));
      check(random, rectangle(1, side), size_up_to(random, 70), size_up_to(random, 70));
      check(random, rectangle(side, 3), size_up_to(random, 70), size_up_to(random, 5));
    }
  }
  check(random, rectangle(33, 33), 41, 70);
  check(random, rectangle(101, 101), 13, 11);
  check(random, rectangle(12, 12), 700, 30);  // more than one strip of columns
}

TEST(CpuExtremum, DisksDiamondsAndLines) {
  std::mt19937 random(3);
  for (int r = 1; r <= 7; ++r) {
    for (int repeat = 0; repeat < 12; ++repeat) {
      const std::int64_t width = size_up_to(random, 70), height = size_up_to(random, 20);
      check(random, disk(r), width, height);
      check(random, diamond(r), width, height);
      check(random, diagonal(2 * r + 1), width, height);
    }
  }
  check(random, disk(20), 60, 50);
  check(random, disk(11), 3000, 3);  // more than one strip of columns
  // Runs of so many lengths that only those of powers of two are kept.
  check(random, diamond(66), 50, 20);
  check(random, diamond(130), 1, 9);
  check(random, disk(160), 9, 3);
}

// Wide enough for vectors of every class, with ends and remainders of every length.
TEST(CpuExtremum, SmallDiamonds) {
  std::mt19937 random(6);
  for (std::int64_t width = 20; width <= 420; ++width) {
    check(random, diamond(1 + static_cast<int>(width % 2)), width, size_up_to(random, 8));
  }
  // A diamond in a corner of a larger mask.
  const Mask corner =
      mask_of(7, 5, [](int x, int y) { return std::abs(x - 1) + std::abs(y - 3) <= 1; });
  for (const std::int64_t width : {300, 301, 370}) check(random, corner, width, 5);
}

TEST(CpuExtremum, RandomMasks) {
  std::mt19937 random(4);
  for (int repeat = 0; repeat < 1500; ++repeat) {
    const Mask mask = random_mask(random, static_cast<int>(size_up_to(random, 12)),
                                  static_cast<int>(size_up_to(random, 9)),
                                  0.1 * static_cast<double>(random() % 11));
    check(random, mask, size_up_to(random, 70), size_up_to(random, 12));
  }
}

TEST(CpuExtremum, AWindowOfNanIsInfinite) {
  const Pixels in{.width = 2, .height = 1, .channels = 1, .values = {NAN, NAN}};
  for (const CpuLevel level : levels_here()) {
    for (const Mask& mask : {rectangle(1, 1), rectangle(3, 3), disk(2), rectangle(11, 11)}) {
      const Extremum dilation{.largest = true, .mask = mask};
      EXPECT_EQ(fast(dilation, PixelClass::single, in, level).values,
                std::vector<double>({-INFINITY, -INFINITY}));
      const Extremum erosion{.largest = false, .mask = mask};
      EXPECT_EQ(fast(erosion, PixelClass::single, in, level).values,
                std::vector<double>({INFINITY, INFINITY}));
    }
  }
}

TEST(ExtremumPlan, MethodFollowsTheMask) {
  EXPECT_EQ(cpu::plan_extremum(rectangle(3, 5)).method, ExtremumPlan::Method::rectangle);
  EXPECT_EQ(cpu::plan_extremum(disk(5)).method, ExtremumPlan::Method::runs);
  EXPECT_EQ(cpu::plan_extremum(diagonal(3)).method, ExtremumPlan::Method::runs);
  EXPECT_EQ(cpu::plan_extremum(mask_of(3, 3, [](int, int) { return false; })).method,
            ExtremumPlan::Method::nothing);

  // A rectangle in a corner of a larger mask is still one.
  const Mask corner = mask_of(5, 5, [](int x, int y) { return x >= 1 && y <= 0; });
  const ExtremumPlan plan = cpu::plan_extremum(corner);
  EXPECT_EQ(plan.method, ExtremumPlan::Method::rectangle);
  EXPECT_EQ(plan.left, 3);
  EXPECT_EQ(plan.top, 0);
  EXPECT_EQ(plan.width, 2);
  EXPECT_EQ(plan.height, 3);
}

TEST(ExtremumPlan, RunsOfADisk) {
  const ExtremumPlan plan = cpu::plan_extremum(disk(2));
  EXPECT_EQ(plan.runs, (std::vector<MaskRun>{{.y = 0, .x = 2, .length = 1},
                                             {.y = 1, .x = 1, .length = 3},
                                             {.y = 2, .x = 0, .length = 5},
                                             {.y = 3, .x = 1, .length = 3},
                                             {.y = 4, .x = 2, .length = 1}}));
  EXPECT_EQ(plan.lengths, (std::vector<int>{1, 3, 5}));
}

TEST(WindowPasses, CoverTheWindowAndNothingElse) {
  for (int length = 1; length <= 300; ++length) {
    std::vector<int> covered{0};  // places that a value depends on, by offset
    for (const cpu::WindowPass& pass : cpu::window_passes(length)) {
      EXPECT_EQ(static_cast<int>(covered.size()), pass.from);
      EXPECT_LE(pass.offsets.size(), 8u);
      std::vector<int> next(static_cast<std::size_t>(pass.to));
      for (const int offset : pass.offsets) {
        for (int i = 0; i < pass.from; ++i) ++next.at(static_cast<std::size_t>(offset + i));
      }
      for (const int times : next) EXPECT_GT(times, 0) << length;
      covered = next;
    }
    EXPECT_EQ(static_cast<int>(covered.size()), length);
  }
}

}  // namespace
}  // namespace impipe::testing
