// Rank filters on the CPU against the naive one, for every method, class and instruction set.
#include "backends/cpu/neighbourhood/rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "backends/cpu/neighbourhood/rank_bytes.hpp"
#include "backends/cpu/neighbourhood/rank_network.hpp"
#include "support/masks.hpp"
#include "support/reference/order.hpp"
#include "support/tile_case.hpp"

namespace impipe::testing {
namespace {

using cpu::RankMethod;
using reference::Pixels;

// Different at different places, so that reading the wrong one shows.
double outside(std::int64_t x, std::int64_t y, int c) {
  return static_cast<double>((x * 7 + y * 3 + c + 100000) % 2);
}

template <class T>
Pixels fast(const Rank& rank, PixelClass cls, const Pixels& in, CpuLevel level) {
  cpu::Scratch scratch;
  return run_tile<T>(in, rank.mask, outside, [&](const cpu::RowsView& view, cpu::TileOut out) {
    cpu::run_rank(rank, cls, view, out, scratch, level);
  });
}

Pixels fast(const Rank& rank, PixelClass cls, const Pixels& in, CpuLevel level) {
  switch (cls) {
    case PixelClass::uint16: return fast<std::uint16_t>(rank, cls, in, level);
    case PixelClass::single: return fast<float>(rank, cls, in, level);
    default: return fast<std::uint8_t>(rank, cls, in, level);
  }
}

// An image through every instruction set.
void check(const Rank& rank, PixelClass cls, const Pixels& in) {
  const Pixels expected = reference::rank_filter(in, rank.mask, rank.rank, rank.average,
                                                 cls != PixelClass::single, outside);
  for (const CpuLevel level : levels_here()) {
    EXPECT_EQ(differences(fast(rank, cls, in, level), expected), 0)
        << name_of(cls) << ", " << in.width << "x" << in.height << ", rank " << rank.rank
        << (rank.average ? " averaged" : "") << ", level " << static_cast<int>(level) << ", mask "
        << describe(rank.mask);
  }
}
void check(std::mt19937& random, const Rank& rank, std::int64_t width, std::int64_t height) {
  const auto cls = static_cast<PixelClass>(random() % 4);
  check(rank, cls, random_pixels(random, cls, width, height, random() % 2 == 0));
}

std::int64_t size_up_to(std::mt19937& random, int most) {
  return 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(most));
}

Rank median(const Mask& mask) {
  const int cells = mask.count();
  return {
      .mask = mask, .rank = (cells - 1) / 2, .average = cells % 2 == 0, .border = Border::constant};
}

// Any rank of the mask.
Rank any_rank(std::mt19937& random, const Mask& mask) {
  Rank rank{.mask = mask, .rank = 0, .average = false, .border = Border::constant};
  rank.rank = static_cast<int>(random() % static_cast<unsigned>(mask.count()));
  rank.average = random() % 2 == 0 && rank.rank + 1 < mask.count();
  return rank;
}

TEST(CpuRank, MediansAndRanksOfRectangles) {
  std::mt19937 random(1);
  for (int w = 1; w <= 9; ++w) {
    for (int h = 1; h <= 9; ++h) {
      for (int repeat = 0; repeat < 2; ++repeat) {
        const std::int64_t width = size_up_to(random, 70), height = size_up_to(random, 12);
        check(random, median(rectangle(w, h)), width, height);
        check(random, any_rank(random, rectangle(w, h)), width, height);
      }
    }
  }
}

TEST(CpuRank, TheCommonMedians) {
  std::mt19937 random(2);
  for (const int side : {3, 5}) {
    for (std::int64_t width = 1; width <= 200; ++width) {
      check(random, median(rectangle(side, side)), width, size_up_to(random, 9));
    }
    check(random, median(rectangle(side, side)), 1200, 3);
  }
}

// A view's rows that lack pixels at their ends, and what stands for those.
struct Ends {
  std::int64_t left = 0, right = 0;  // pixels that are not there
  std::int64_t left_copies[2] = {-1, -1}, right_copies[2] = {-1, -1};
};
constexpr double beside = 1;

// The pixel at column x of row y with the windows' reach, as the view's ends say.
double with_ends(const Pixels& in, const Ends& ends, int reach, std::int64_t x, std::int64_t y) {
  const std::int64_t first = ends.left - reach, end = in.width + reach - ends.right;
  if (x < first || x >= end) {
    const std::int64_t place =
        x < first ? ends.left_copies[first - 1 - x] : ends.right_copies[x - end];
    return place < 0 ? beside : with_ends(in, ends, reach, place, y);
  }
  const bool inside = x >= 0 && x < in.width && y >= 0 && y < in.height;
  return inside ? in.at(x, y, 0) : outside(x, y, 0);
}

template <class T>
Pixels without_ends(const Rank& rank, PixelClass cls, const Pixels& in, const Ends& ends,
                    CpuLevel level) {
  cpu::Scratch scratch;
  const int reach = rank.mask.width / 2;
  const T besides = static_cast<T>(beside);
  // The places of pixels that are not there hold what they do not stand for.
  const auto row = [&](std::int64_t x, std::int64_t y, int) {
    const bool absent = x < ends.left - reach || x >= in.width + reach - ends.right;
    const double value = with_ends(in, ends, reach, x, y);
    return absent ? (value == 0 ? 1.0 : 0.0) : value;
  };
  return run_tile<T>(in, rank.mask, row, [&](cpu::RowsView view, cpu::TileOut out) {
    view.absent_left = ends.left;
    view.absent_right = ends.right;
    std::copy_n(ends.left_copies, 2, view.left_copies);
    std::copy_n(ends.right_copies, 2, view.right_copies);
    view.beside = reinterpret_cast<const std::byte*>(&besides);
    cpu::run_rank(rank, cls, view, out, scratch, level);
  });
}

Pixels without_ends(const Rank& rank, PixelClass cls, const Pixels& in, const Ends& ends,
                    CpuLevel level) {
  switch (cls) {
    case PixelClass::uint16: return without_ends<std::uint16_t>(rank, cls, in, ends, level);
    case PixelClass::single: return without_ends<float>(rank, cls, in, ends, level);
    default: return without_ends<std::uint8_t>(rank, cls, in, ends, level);
  }
}

// Widths of one strip of pixels, several, and several with a rest of one pixel.
TEST(CpuRank, CommonMediansOfRowsWithoutEnds) {
  std::mt19937 random(13);
  for (int number = 0; number < 300; ++number) {
    const int side = number % 2 == 0 ? 3 : 5, reach = side / 2;
    const Rank rank = median(rectangle(side, side));
    const std::int64_t widths[] = {24, 48, 96, 97, 192, 257, 511, 513, 514, 1025, 1026, 1100};
    const std::int64_t width = widths[random() % std::size(widths)];
    const auto cls = static_cast<PixelClass>(random() % 4);
    const Pixels in = random_pixels(random, cls, width, size_up_to(random, 9), number % 4 < 2);
    Ends ends{.left = static_cast<std::int64_t>(random() % (reach + 1)),
              .right = static_cast<std::int64_t>(random() % (reach + 1))};
    for (int k = 0; k < 2; ++k) {
      ends.left_copies[k] = size_up_to(random, static_cast<int>(width) + 1) - 2;
      ends.right_copies[k] = size_up_to(random, static_cast<int>(width) + 1) - 2;
    }
    const Pixels expected = reference::rank_filter(
        in, rank.mask, rank.rank, rank.average, cls != PixelClass::single,
        [&](std::int64_t x, std::int64_t y, int) { return with_ends(in, ends, reach, x, y); });
    for (const CpuLevel level : levels_here()) {
      if (ends.left + ends.right > 0 && !cpu::knows_ends(rank, cls, width, level)) continue;
      EXPECT_EQ(differences(without_ends(rank, cls, in, ends, level), expected), 0)
          << side << ", " << name_of(cls) << ", " << width << "x" << in.height << ", without "
          << ends.left << " and " << ends.right << ", level " << static_cast<int>(level);
    }
  }
}

TEST(CpuRank, LargeWindows) {
  std::mt19937 random(3);
  for (const int side : {10, 15, 17, 31}) {
    check(random, median(rectangle(side, side)), 33, 17);
    check(random, median(rectangle(side + 1, side)), 30, 9);
    check(random, any_rank(random, rectangle(side, 3)), 70, 9);
    check(random, any_rank(random, rectangle(3, side)), 70, 9);
    check(random, any_rank(random, disk(side / 2)), 40, 11);
  }
}

// More than one tile in each direction, and tiles of more than 128 values a bucket.
TEST(CpuRank, LargeWindowsOverManyTiles) {
  std::mt19937 random(5);
  check(random, median(rectangle(13, 13)), 300, 150);
  check(random, median(disk(6)), 290, 140);
  check(random, any_rank(random, rectangle(120, 12)), 200, 20);
  check(random, any_rank(random, rectangle(14, 120)), 200, 20);
  check(random, any_rank(random, random_mask(random, 31, 31, 0.5)), 110, 30);
  check(random, any_rank(random, rectangle(255, 255)), 3, 2);
}

// Counts of columns that differ by no more than a byte with a sign holds, and by more.
TEST(CpuRank, HighWindows) {
  std::mt19937 random(6);
  for (const int height : {127, 128, 200, 255, 256}) {
    for (const PixelClass cls : {PixelClass::uint16, PixelClass::single}) {
      const Mask mask = rectangle(4, height);
      check(any_rank(random, mask), cls, random_pixels(random, cls, 40, 30, false));
      // All of a column is above all of the column before it, or below.
      Pixels steps{.width = 40, .height = 30, .channels = 1, .values = {}};
      for (int i = 0; i < 40 * 30; ++i) steps.values.push_back(i % 40 % 3 == 0 ? 1 : 0);
      check(any_rank(random, mask), cls, steps);
    }
  }
}

// Codes that a window's rank finds where it was, a little above and below, or far away.
std::vector<Pixels> pictures_of_bytes(std::mt19937& random, std::int64_t width,
                                      std::int64_t height) {
  const auto made = [&](auto code) {
    Pixels pixels{.width = width, .height = height, .channels = 1, .values = {}};
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        pixels.values.push_back(static_cast<double>(code(x, y) & 255));
      }
    }
    return pixels;
  };
  std::vector<std::int64_t> steps;
  for (int k = 0; k < 40; ++k) steps.push_back(random() % 256);
  return {made([&](std::int64_t, std::int64_t) { return random(); }),
          made([](std::int64_t x, std::int64_t y) { return x / 2 + 3 * y; }),
          made([](std::int64_t x, std::int64_t y) { return 255 - x - y; }),
          made([](std::int64_t x, std::int64_t y) { return (x + y) % 2 * 255; }),
          made([&](std::int64_t x, std::int64_t y) { return steps[(x / 7 + y / 3) % 40]; }),
          made([](std::int64_t, std::int64_t) { return 255; })};
}

// Every picture, with the median and the first and the last ranks of a rectangle.
void check_bytes(std::mt19937& random, const Mask& mask, std::int64_t width, std::int64_t height) {
  Rank rank{.mask = mask, .border = Border::constant};
  for (const Pixels& in : pictures_of_bytes(random, width, height)) {
    check(median(mask), PixelClass::uint8, in);
    for (const int place : {0, mask.count() - 2, mask.count() - 1}) {
      rank.rank = place;
      rank.average = place + 2 == mask.count();
      check(rank, PixelClass::uint8, in);
    }
  }
}

TEST(CpuRank, BytesInRectangles) {
  std::mt19937 random(21);
  for (const std::int64_t width : {1, 2, 63, 64, 65, 127, 130}) {
    check_bytes(random, rectangle(11, 11), width, 4);
    check_bytes(random, rectangle(12, 10), width, 1);
    check_bytes(random, rectangle(3, 41), width, 2);
    check_bytes(random, rectangle(1, 150), width, 3);
    check_bytes(random, rectangle(150, 1), width, 3);
  }
  for (int repeat = 0; repeat < 60; ++repeat) {
    const Mask mask = rectangle(static_cast<int>(size_up_to(random, 40)),
                                static_cast<int>(size_up_to(random, 40)));
    const PixelClass cls = repeat % 4 == 0 ? PixelClass::logical : PixelClass::uint8;
    check(any_rank(random, mask), cls,
          random_pixels(random, cls, size_up_to(random, 200), size_up_to(random, 20), false));
  }
}

// More results than a strip has, and more columns of the window than results.
TEST(CpuRank, BytesOverStrips) {
  std::mt19937 random(22);
  for (const std::int64_t width : {1269, 1270, 1271, 1300, 2561}) {
    check(median(rectangle(11, 11)), PixelClass::uint8,
          random_pixels(random, PixelClass::uint8, width, 3, false));
  }
  check_bytes(random, rectangle(13, 9), 1400, 2);
  check_bytes(random, rectangle(600, 1), 1200, 1);
}

// As many cells as 16 bits count, as many rows as bytes count, and one more.
TEST(CpuRank, BytesInTheLargestRectangles) {
  std::mt19937 random(23);
  for (const Mask& mask : {rectangle(255, 255), rectangle(257, 255), rectangle(3, 255),
                           rectangle(3, 256), rectangle(1001, 65)}) {
    check_bytes(random, mask, 3, 2);
  }
}

// Wider or taller than a tile, one cell high or wide, and more than one block in each direction.
TEST(CpuRank, TheLargestWindows) {
  std::mt19937 random(6);
  for (int repeat = 0; repeat < 4; ++repeat) {
    check(random, median(rectangle(1001, 1)), 5, 3);
    check(random, median(rectangle(1, 1001)), 3, 5);
    check(random, any_rank(random, rectangle(257, 3)), 30, 4);
    check(random, any_rank(random, rectangle(3, 301)), 4, 30);
    check(random, any_rank(random, random_mask(random, 161, 40, 0.3)), 9, 7);
    check(random, any_rank(random, rectangle(255, 257)), 2, 3);
    check(random, any_rank(random, disk(128)), 3, 2);
  }
  check(random, any_rank(random, rectangle(161, 1)), 600, 3);
  check(random, any_rank(random, rectangle(1, 161)), 3, 600);
  check(random, median(random_mask(random, 170, 2, 0.2)), 550, 3);
}

TEST(CpuRank, DisksDiamondsAndRandomMasks) {
  std::mt19937 random(4);
  for (int r = 1; r <= 7; ++r) {
    check(random, median(disk(r)), size_up_to(random, 70), size_up_to(random, 9));
    check(random, median(diamond(r)), size_up_to(random, 70), size_up_to(random, 9));
  }
  for (int repeat = 0; repeat < 400; ++repeat) {
    const Mask mask = random_mask(random, static_cast<int>(size_up_to(random, 10)),
                                  static_cast<int>(size_up_to(random, 10)),
                                  0.1 * static_cast<double>(1 + random() % 10));
    if (mask.count() == 0) continue;
    check(random, any_rank(random, mask), size_up_to(random, 70), size_up_to(random, 6));
  }
}

// What a large image's tile is made by, and that no size of a window costs far more than a
// slightly smaller one.
TEST(RankMethod, IsTheCheapestOfTheMaskTheClassAndTheLevel) {
  const auto offers = [](const Mask& mask, PixelClass cls, CpuLevel level) {
    const Rank rank = median(mask);
    return cpu::rank_offers(
        {rank, cls, {2048, std::max<std::int64_t>(64, 8 * (mask.height - 1))}, level});
  };
  const auto method = [&](const Mask& mask, PixelClass cls = PixelClass::uint8,
                          CpuLevel level = CpuLevel::baseline) {
    return offers(mask, cls, level).front().method;
  };
  EXPECT_EQ(method(rectangle(3, 3)), RankMethod::median_3x3);
  EXPECT_EQ(method(rectangle(5, 5)), RankMethod::median_5x5);
  EXPECT_EQ(method(rectangle(7, 7)), RankMethod::columns);
  EXPECT_EQ(method(rectangle(9, 1)), RankMethod::network);
  EXPECT_EQ(method(disk(3)), RankMethod::network);
  EXPECT_EQ(method(rectangle(31, 31)), RankMethod::sliding);
  EXPECT_EQ(method(rectangle(7, 7), PixelClass::single), RankMethod::columns);
  EXPECT_EQ(method(rectangle(256, 256), PixelClass::single), RankMethod::sliding);
  for (const CpuLevel level : levels_here()) {
    if (level == CpuLevel::baseline) continue;
    EXPECT_EQ(method(rectangle(7, 7), PixelClass::uint8, level), RankMethod::columns);
    EXPECT_EQ(method(rectangle(15, 15), PixelClass::uint8, level), RankMethod::byte_counts);
    EXPECT_EQ(method(rectangle(15, 15), PixelClass::logical, level), RankMethod::byte_counts);
    EXPECT_EQ(method(rectangle(255, 255), PixelClass::uint8, level), RankMethod::byte_counts);
    EXPECT_EQ(method(rectangle(255, 256), PixelClass::uint8, level), RankMethod::sliding);
    EXPECT_EQ(method(disk(15), PixelClass::uint8, level), RankMethod::sliding);
    EXPECT_EQ(method(disk(15), PixelClass::uint16, level), RankMethod::tiles);
    EXPECT_EQ(method(rectangle(15, 15), PixelClass::uint16, level), RankMethod::tiles);
    EXPECT_EQ(method(rectangle(151, 151), PixelClass::single, level), RankMethod::tiles);
    EXPECT_EQ(method(rectangle(255, 255), PixelClass::single, level), RankMethod::sliding);
    for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
      double before = offers(rectangle(7, 7), cls, level).front().cost;
      for (int side = 8; side < 200; ++side) {
        const double cost = offers(rectangle(side, side), cls, level).front().cost;
        EXPECT_LT(cost, 1.6 * before) << name_of(cls) << " of " << side << "x" << side;
        before = cost;
      }
    }
  }
}

template <class T>
void apply(const cpu::SelectionNetwork& network, std::vector<T>& wires) {
  for (const cpu::Exchange& e : network.exchanges) {
    const auto low = static_cast<std::size_t>(e.low), high = static_cast<std::size_t>(e.high);
    const T a = wires[low], b = wires[high];
    if (e.keep_low) wires[low] = std::min(a, b);
    if (e.keep_high) wires[high] = std::max(a, b);
  }
}

// By the 0-1 principle a network that sorts every list of zeros and ones sorts everything.
TEST(RankNetwork, SortsEveryListOfZerosAndOnes) {
  for (int n = 1; n <= 12; ++n) {
    const cpu::SelectionNetwork network = cpu::sorting_network(n);
    for (unsigned bits = 0; bits < 1u << n; ++bits) {
      std::vector<int> wires;
      for (int i = 0; i < n; ++i) wires.push_back(static_cast<int>(bits >> i & 1));
      apply(network, wires);
      std::vector<int> result;
      for (const int wire : network.results) {
        result.push_back(wires[static_cast<std::size_t>(wire)]);
      }
      ASSERT_TRUE(std::is_sorted(result.begin(), result.end())) << n << " wires, " << bits;
    }
  }
}

// Sorted lists of zeros and ones are told by how many ones each has: all of them are tried.
TEST(RankNetwork, SelectsFromSortedListsOfZerosAndOnes) {
  for (int lists = 1; lists <= 5; ++lists) {
    for (int length = 1; length <= 5; ++length) {
      const int cells = lists * length;
      for (int rank = 0; rank < cells; ++rank) {
        const int last = std::min(rank + 1, cells - 1);
        const cpu::SelectionNetwork network = cpu::selection_network(
            std::vector<int>(static_cast<std::size_t>(lists), length), rank, last,
            rank % 2 == 0 ? cpu::MergeOrder::shortest : cpu::MergeOrder::as_given);
        std::vector<int> ones(static_cast<std::size_t>(lists), 0);
        for (bool more = true; more;) {
          std::vector<int> wires;
          for (const int count : ones) {
            for (int i = 0; i < length; ++i) wires.push_back(i >= length - count);
          }
          apply(network, wires);
          const int zeros = cells - std::accumulate(ones.begin(), ones.end(), 0);
          for (int r = rank; r <= last; ++r) {
            const int wire = network.results[static_cast<std::size_t>(r - rank)];
            ASSERT_EQ(wires[static_cast<std::size_t>(wire)], r >= zeros ? 1 : 0)
                << lists << " lists of " << length << ", rank " << r;
          }
          more = false;
          for (int& count : ones) {
            if (++count <= length) {
              more = true;
              break;
            }
            count = 0;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace impipe::testing
