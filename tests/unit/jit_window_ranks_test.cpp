// Ranks of windows side by side are those of each window by itself, whatever the mask.
#include "backends/jit/text/window_ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <vector>

#include "support/masks.hpp"

namespace impipe::testing {
namespace {

using jit::WindowRanks;
using Pixel = std::function<int(int x, int y)>;

// What the values are for such pixels.
std::vector<int> computed(const WindowRanks& ranks, const Pixel& pixel) {
  std::vector<int> out;
  for (const WindowRanks::Value& value : ranks.values()) {
    const auto made = [&](int i) { return out[static_cast<std::size_t>(i)]; };
    switch (value.of) {
      case WindowRanks::Value::Of::cell: out.push_back(pixel(value.a, value.b)); break;
      case WindowRanks::Value::Of::smaller:
        out.push_back(std::min(made(value.a), made(value.b)));
        break;
      case WindowRanks::Value::Of::larger:
        out.push_back(std::max(made(value.a), made(value.b)));
        break;
    }
  }
  return out;
}

std::vector<int> sorted_window(const Mask& mask, int left, const Pixel& pixel) {
  std::vector<int> cells;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      if (mask.at(x, y)) cells.push_back(pixel(left + x, y));
    }
  }
  std::ranges::sort(cells);
  return cells;
}

void expect_ranks(const Rank& rank, int count, std::mt19937& random) {
  const WindowRanks ranks(rank, count);
  for (const int most : {2, 5, 1000}) {
    std::vector<int> drawn(static_cast<std::size_t>((rank.mask.width + count) * rank.mask.height));
    for (int& value : drawn) value = static_cast<int>(random() % static_cast<unsigned>(most));
    const Pixel pixel = [&](int x, int y) {
      return drawn[static_cast<std::size_t>(y * (rank.mask.width + count) + x)];
    };
    const std::vector<int> values = computed(ranks, pixel);
    for (int i = 0; i < count; ++i) {
      const std::vector<int> window = sorted_window(rank.mask, i, pixel);
      const std::vector<int>& found = ranks.of_window(i);
      ASSERT_EQ(found.size(), rank.average ? 2u : 1u);
      for (std::size_t k = 0; k < found.size(); ++k) {
        EXPECT_TRUE(ranks.is_needed(found[k]));
        EXPECT_EQ(values[static_cast<std::size_t>(found[k])],
                  window[static_cast<std::size_t>(rank.rank) + k])
            << rank.mask.width << "x" << rank.mask.height << ", rank " << rank.rank << ", window "
            << i << " of " << count;
      }
    }
  }
}

TEST(WindowRanks, AreThoseOfEachWindow) {
  std::mt19937 random(3);
  std::vector<Mask> masks = {rectangle(1, 1),  rectangle(2, 2), rectangle(8, 8), rectangle(31, 1),
                             rectangle(1, 31), disk(4),         diamond(5),      diagonal(13)};
  for (int i = 0; i < 12; ++i) masks.push_back(random_mask(random, 7, 6, 0.4));
  for (const Mask& mask : masks) {
    const int cells = mask.count();
    for (const int count : {1, 2, 4, 8}) {
      for (const int rank : {0, cells / 3, (cells - 1) / 2, cells - 1}) {
        expect_ranks({.mask = mask, .rank = rank, .average = rank + 1 < cells}, count, random);
      }
    }
  }
}

// Values that nobody needs are not made: a comparison of all pairs would take 31 * 30 of them.
TEST(WindowRanks, ShareWhatNeighboursHaveInCommon) {
  const auto steps = [](const Mask& mask, int count) {
    return WindowRanks({.mask = mask, .rank = mask.count() / 2}, count).steps();
  };
  EXPECT_LT(steps(rectangle(31, 1), 8), 8 * 45);
  EXPECT_LT(steps(rectangle(9, 9), 8), 8 * 310);
  EXPECT_LT(steps(disk(4), 8), 8 * 260);
}

}  // namespace
}  // namespace impipe::testing
