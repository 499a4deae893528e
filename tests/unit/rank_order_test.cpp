// The order of ranks is one in every form of every device: -inf, numbers, inf, and NaN last;
// against a sort of each window. The masks are on both sides of what chooses a form: rows, columns
// and squares of up to nine, networks and what counts, flat, tall, round and slanted ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/masks.hpp"
#include "support/pipeline_runner.hpp"
#include "support/tile_case.hpp"

namespace impipe::testing {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr Size size{150, 37};  // several strips and blocks

// A picture, row by row.
using Values = std::vector<float>;

struct Filter {
  std::string text;
  Mask mask;
  int rank = 0;
  bool average = false;
  Border border = Border::constant;
};

constexpr Border borders[] = {Border::constant, Border::replicate, Border::symmetric,
                              Border::circular};
const char* const names_of_borders[] = {"zeros", "replicate", "symmetric", "circular"};

Filter median(int rows, int columns, std::size_t border) {
  const int cells = rows * columns;
  return {"medfilt2 " + std::to_string(rows) + "," + std::to_string(columns) + " " +
              names_of_borders[border % 4],
          rectangle(columns, rows), (cells - 1) / 2, cells % 2 == 0, borders[border % 4]};
}

Filter ranked(const Mask& mask, int rank, std::size_t border) {
  std::string domain;
  for (int y = 0; y < mask.height; ++y) {
    domain += y > 0 ? ";" : "[";
    for (int x = 0; x < mask.width; ++x) domain += mask.at(x, y) ? "1 " : "0 ";
  }
  return {"ordfilt2 " + std::to_string(rank + 1) + " " + domain +
              "] pad=" + names_of_borders[border % 4],
          mask, rank, false, borders[border % 4]};
}

// Medians of all rectangles up to 9x9, and of both sides of the switches beyond.
std::vector<Filter> medians() {
  std::vector<Filter> out;
  for (int rows = 1; rows <= 9; ++rows) {
    for (int columns = rows == 1 ? 2 : 1; columns <= 9; ++columns) {
      out.push_back(median(rows, columns, out.size()));
    }
  }
  for (const auto& [rows, columns] : {std::pair(12, 12),
                                      {12, 13},
                                      {15, 15},
                                      {1, 49},
                                      {1, 50},
                                      {49, 1},
                                      {50, 1},
                                      {3, 31},
                                      {31, 3},
                                      {6, 40},
                                      {30, 9},
                                      {64, 64},
                                      {65, 70},
                                      {1, 129},
                                      {129, 2}}) {
    out.push_back(median(rows, columns, out.size()));
  }
  return out;
}

std::vector<Filter> ranks() {
  std::mt19937 random(5);
  std::vector<Filter> out;
  for (const Mask& mask :
       {rectangle(3, 3), rectangle(5, 5), rectangle(4, 5), rectangle(2, 9), rectangle(7, 7),
        rectangle(15, 1), disk(2), disk(3), disk(4), disk(7), diamond(3), diamond(5), diagonal(9),
        diagonal(23), random_mask(random, 7, 6, 0.4)}) {
    Mask centred = mask;
    centred.origin_x = (mask.width - 1) / 2;
    centred.origin_y = (mask.height - 1) / 2;
    const int last = mask.count() - 1;
    for (const int rank : {0, last / 3, last - 1, last}) {
      out.push_back(ranked(centred, rank, out.size()));
    }
  }
  return out;
}

// Where column x (or row) is read, or -1.
int inside(Border border, int x, int n) {
  const auto modulo = [](int a, int b) { return (a % b + b) % b; };
  if (x >= 0 && x < n) return x;
  if (border == Border::replicate) return std::clamp(x, 0, n - 1);
  if (border == Border::circular) return modulo(x, n);
  if (border == Border::constant) return -1;
  const int rest = modulo(x, 2 * n);
  return rest < n ? rest : 2 * n - 1 - rest;
}

Values defined(const Filter& filter, const Values& in) {
  const Mask& mask = filter.mask;
  const int width = static_cast<int>(size.width), height = static_cast<int>(size.height);
  Values out, window;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      window.clear();
      for (int j = 0; j < mask.height; ++j) {
        const int row = inside(filter.border, y + j - mask.origin_y, height);
        for (int i = 0; i < mask.width; ++i) {
          if (!mask.at(i, j)) continue;
          const int column = inside(filter.border, x + i - mask.origin_x, width);
          const bool there = row >= 0 && column >= 0;
          window.push_back(there ? in[static_cast<std::size_t>(row * width + column)] : 0.0f);
        }
      }
      const auto numbers =
          std::partition(window.begin(), window.end(), [](float v) { return !std::isnan(v); });
      std::sort(window.begin(), numbers);
      const float value = window[static_cast<std::size_t>(filter.rank)];
      const float next = filter.average ? window[static_cast<std::size_t>(filter.rank) + 1] : 0;
      out.push_back(filter.average ? (value + next) / 2 : value);
    }
  }
  return out;
}

// Noise with ties, infinities, zeros of both signs, and NaN of both signs and several payloads.
Values noise(unsigned seed, bool nan) {
  std::mt19937 random(seed);
  Values out(static_cast<std::size_t>(size.width * size.height));
  for (float& v : out) {
    const unsigned kind = static_cast<unsigned>(random() % 100);
    v = static_cast<float>(random() % 2000) / 16 - 60;
    if (kind < 2 && nan) v = std::bit_cast<float>(kind == 0 ? 0x7fc00001u : 0xffc00000u);
    if (kind == 2) v = infinity;
    if (kind == 3) v = -infinity;
    if (kind == 4 || kind == 5) v = kind == 4 ? 0.0f : -0.0f;
    if (kind == 6) v = std::bit_cast<float>(1u << 31 | 3);  // below the normal numbers
  }
  return out;
}

HostImage image_of(const Values& values) {
  HostImage image({.cls = PixelClass::single, .channels = 1, .alpha = false, .white = 1}, size);
  for (std::int64_t y = 0; y < size.height; ++y) {
    std::copy_n(values.begin() + y * size.width, size.width, image.planes[0].row_as<float>(y));
  }
  return image;
}

// How many pixels are another value than wanted, NaN for NaN; or -0.
int wrong_pixels(const HostImage& got, const Values& wanted) {
  int wrong = 0;
  for (std::int64_t y = 0; y < size.height; ++y) {
    const float* row = got.planes[0].row_as<const float>(y);
    for (std::int64_t x = 0; x < size.width; ++x) {
      const float want = wanted[static_cast<std::size_t>(y * size.width + x)];
      const bool same = std::isnan(want) ? std::isnan(row[x]) : row[x] == want;
      wrong += !same || (row[x] == 0 && std::signbit(row[x]));
    }
  }
  return wrong;
}

void expect_defined(const std::string& text, const Values& in, const Values& wanted,
                    const test::RunOptions& options) {
  const std::string device =
      options.level ? "level " + std::to_string(static_cast<int>(*options.level)) : options.backend;
  EXPECT_EQ(wrong_pixels(test::run(text, image_of(in), {}, options).image, wanted), 0)
      << text.substr(0, 100) << " on " << device << (options.fuse ? "" : ", not fused");
}

// Each filter alone, with and without NaN in the picture.
void expect_order(const std::vector<Filter>& filters, const test::RunOptions& options) {
  unsigned seed = 0;
  for (const Filter& filter : filters) {
    for (const bool nan : {true, false}) {
      const Values in = noise(++seed, nan);
      expect_defined(filter.text, in, defined(filter, in), options);
    }
  }
}

// NaN that a stage before makes, 0 / 0 where it is -40 or less, and ranks of ranks.
void expect_order_of_stages(test::RunOptions options) {
  const Values in = noise(77, true);
  Values made = in;
  for (float& v : made) v = v > -40 ? v : std::numeric_limits<float>::quiet_NaN();
  const std::vector<Filter> filters = {median(3, 3, 0), median(2, 3, 2), median(5, 5, 1),
                                       median(6, 6, 3), ranked(diagonal(9), 5, 2)};
  for (options.fuse = false;; options.fuse = true) {
    for (const Filter& filter : filters) {
      Values wanted = defined(filter, made);
      for (float& v : wanted) v = v * 2 + 1;
      expect_defined("map '0 / max(x + 40, 0) + x' | " + filter.text + " | map 'x * 2 + 1'", in,
                     wanted, options);
      const Filter second = median(3, 4, 2);
      expect_defined(filter.text + " | " + second.text, in, defined(second, defined(filter, in)),
                     options);
    }
    if (options.fuse) return;
  }
}

// With offsets each window's ranks are found by themselves.
void expect_order_of_offsets(const test::RunOptions& options) {
  const Values in = noise(78, true);
  Filter filter = ranked(rectangle(3, 3), 6, 2);
  filter.text += " offsets=[0 0 0;0 0 0;0 0 0]";
  expect_defined(filter.text, in, defined(filter, in), options);
}

TEST(CpuRankOrder, IsThatOfTheDefinition) {
  for (const CpuLevel level : levels_here()) {
    expect_order(medians(), {.level = level});
    expect_order(ranks(), {.level = level});
    expect_order_of_stages({.level = level});
    expect_order_of_offsets({.level = level});
  }
}

// A compiler runs for each: medians on both sides of each switch, and one rank of each mask.
void expect_order_on(const std::string& backend) {
  if (!test::has_device(backend)) GTEST_SKIP() << "no " << backend;
  std::vector<Filter> some;
  for (const auto& [rows, columns] : {std::pair(1, 2),
                                      {2, 2},
                                      {3, 3},
                                      {2, 3},
                                      {5, 5},
                                      {5, 4},
                                      {7, 3},
                                      {8, 3},
                                      {3, 8},
                                      {5, 6},
                                      {7, 7},
                                      {1, 31},
                                      {31, 1},
                                      {9, 9},
                                      {12, 12},
                                      {12, 13},
                                      {15, 15},
                                      {65, 70}}) {
    some.push_back(median(rows, columns, some.size()));
  }
  const std::vector<Filter> all = ranks();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % 4 == i / 4 % 4) some.push_back(all[i]);
  }
  expect_order(some, {.backend = backend});
  expect_order_of_stages({.backend = backend});
  expect_order_of_offsets({.backend = backend});
}

TEST(OpenClRankOrder, IsThatOfTheDefinition) { expect_order_on("opencl"); }
TEST(CudaRankOrder, IsThatOfTheDefinition) { expect_order_on("cuda"); }

}  // namespace
}  // namespace impipe::testing
