// Counts of tiles, and pixels between tables of tiles, against loops over their definitions, on
// every instruction set.
#include <gtest/gtest.h>

#include <cmath>

#include "support/spec_case.hpp"

namespace impipe::testing {
namespace {

struct Tiling {
  Size size;
  int across, down, bins;
};
// Sides that divide and do not, parts smaller than a table, areas in which a float is too coarse,
// and some beyond 2^31 / 512 pixels, which bytes compute otherwise.
const Tiling tilings[] = {
    {{256, 128}, 8, 4, 256},  {{333, 217}, 3, 5, 40},   {{37, 91}, 12, 2, 300},
    {{1, 1}, 2, 2, 7},        {{200, 3}, 2, 3, 256},    {{600, 130}, 2, 2, 2},
    {{640, 90}, 5, 7, 1000},  {{3820000, 1}, 2, 2, 16}, {{3980000, 1}, 2, 2, 16},
    {{4300000, 1}, 2, 2, 16}, {{64, 64}, 30, 30, 4}};

// One direction: the side of a tile, and how far the tiles reach beyond the image on this side.
struct Side {
  std::int64_t side, frame;
};
Side side_of(std::int64_t size, int tiles) {
  const std::int64_t part = (size + tiles - 1) / tiles, side = part + part % 2;
  return {side, (side * tiles - size) / 2};
}

std::int64_t bin_of(double value, double white, int bins) {
  const double known = std::isnan(value) ? 0 : std::min(std::max(value, 0.0), white);
  return static_cast<std::int64_t>(std::floor(known * (bins - 1) / white + 0.5));
}

// The two tiles round a place, and their weights.
struct Between {
  std::int64_t before, behind;
  double left, right;
};
Between between(std::int64_t place, const Side& side, int tiles) {
  const std::int64_t at = place + side.frame, k = (at + side.side / 2) / side.side;
  const double apart = static_cast<double>(k == 0 || k == tiles ? side.side / 2 : side.side);
  const double from = static_cast<double>(k == 0 ? at : at - k * side.side + side.side / 2);
  return {std::max<std::int64_t>(k - 1, 0), std::min<std::int64_t>(k, tiles - 1), apart - from,
          from};
}

SpecResult between_tables(const Tiling& tiling, const SpecResult& image,
                          const std::vector<double>& tables, double white) {
  SpecResult out = image;
  const Side wide = side_of(tiling.size.width, tiling.across);
  const Side tall = side_of(tiling.size.height, tiling.down);
  for (std::int64_t y = 0; y < tiling.size.height; ++y) {
    const Between v = between(y, tall, tiling.down);
    for (std::int64_t x = 0; x < tiling.size.width; ++x) {
      const Between u = between(x, wide, tiling.across);
      const std::int64_t bin = bin_of(image.image.at(x, y, 0), white, tiling.bins);
      const auto value = [&](std::int64_t row, std::int64_t column) {
        return tables[static_cast<std::size_t>((row * tiling.across + column) * tiling.bins + bin)];
      };
      const double upper = u.left * value(v.before, u.before) + u.right * value(v.before, u.behind);
      const double lower = u.left * value(v.behind, u.before) + u.right * value(v.behind, u.behind);
      const double mean =
          (v.left * upper + v.right * lower) / ((v.left + v.right) * (u.left + u.right));
      out.image.at(x, y, 0) = image.image.cls == PixelClass::single
                                  ? static_cast<double>(static_cast<float>(mean))
                                  : std::floor(mean + 0.5);
    }
  }
  return out;
}

struct Given {
  KernelInput input;
  SpecResult image;
};
Given given(std::mt19937& random, PixelClass cls, Size size) {
  const double white = cls == PixelClass::single ? 1 : class_max(cls);
  return {{.cls = cls, .white = white}, random_image(random, cls, 1, size, true)};
}

TEST(CpuTiles, AreBetweenTheirTables) {
  std::mt19937 random(5);
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Tiling& tiling : tilings) {
      if (tiling.size.width > 1000000 && cls != PixelClass::uint8) continue;
      const Given of = given(random, cls, tiling.size);
      const std::int64_t values = std::int64_t{tiling.across} * tiling.down * tiling.bins;
      SpecResult tables;
      for (std::int64_t k = 0; k < values; ++k) {
        const auto value = static_cast<double>(random() % 65536);
        tables.measure.push_back(cls == PixelClass::single  ? value / 65535
                                 : cls == PixelClass::uint8 ? std::floor(value / 256)
                                                            : value);
      }
      KernelSpec spec;
      spec.inputs = {of.input, {.is_measure = true, .values = values}};
      Node node{.primitive = BetweenTables{tiling.across, tiling.down, tiling.bins},
                .images = {{true, 0}},
                .arguments = {{.source = Argument::Source::measured, .per_channel = true}},
                .cls = cls,
                .white = of.input.white};
      node.measures = {{true, 1}};
      spec.nodes = {node};
      spec.outputs = {0};
      const SpecResult wanted = between_tables(tiling, of.image, tables.measure, of.input.white);
      for (const CpuLevel level : usable_levels()) {
        ASSERT_EQ(difference(run_spec(spec, {of.image, tables}, level, 2)[0], wanted), "")
            << to_string(tiling.size) << ", " << name_of(cls) << ", level "
            << static_cast<int>(level);
      }
    }
  }
}

// In a frame of the image mirrored at its sides.
std::vector<double> counts_of(const Tiling& tiling, const SpecImage& image, double white) {
  const Side wide = side_of(tiling.size.width, tiling.across);
  const Side tall = side_of(tiling.size.height, tiling.down);
  const auto mirrored = [](std::int64_t place, std::int64_t size) {
    while (place < 0 || place >= size) place = place < 0 ? -1 - place : 2 * size - 1 - place;
    return place;
  };
  std::vector<double> counts(static_cast<std::size_t>(tiling.across * tiling.down * tiling.bins));
  for (std::int64_t y = 0; y < tall.side * tiling.down; ++y) {
    for (std::int64_t x = 0; x < wide.side * tiling.across; ++x) {
      const double value = image.at(mirrored(x - wide.frame, image.width),
                                    mirrored(y - tall.frame, image.height), 0);
      const std::int64_t tile = y / tall.side * tiling.across + x / wide.side;
      ++counts[static_cast<std::size_t>(tile * tiling.bins + bin_of(value, white, tiling.bins))];
    }
  }
  return counts;
}

TEST(CpuTiles, CountTheirBins) {
  std::mt19937 random(6);
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Tiling& tiling : tilings) {
      if (tiling.size.width > 1000000 && cls != PixelClass::uint8) continue;
      const Given of = given(random, cls, tiling.size);
      SpecResult wanted;
      wanted.measure = counts_of(tiling, of.image.image, of.input.white);
      Node node{
          .primitive = Histogram{.bins = tiling.bins, .across = tiling.across, .down = tiling.down},
          .images = {{true, 0}},
          .cls = PixelClass::single,
          .white = of.input.white};
      node.is_measure = true;
      node.values = static_cast<std::int64_t>(wanted.measure.size());
      KernelSpec spec;
      spec.inputs = {of.input};
      spec.nodes = {node};
      spec.outputs = {0};
      for (const CpuLevel level : usable_levels()) {
        ASSERT_EQ(difference(run_spec(spec, {of.image}, level, 2)[0], wanted), "")
            << to_string(tiling.size) << ", " << name_of(cls) << ", level "
            << static_cast<int>(level);
      }
    }
  }
}

}  // namespace
}  // namespace impipe::testing
