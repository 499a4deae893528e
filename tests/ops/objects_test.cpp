// Objects: bwmorph, bwareafilt, watershed and regionprops against their definitions, written out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "core/object_table.hpp"
#include "support/pipeline_runner.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

using test::run;
using Grid = std::vector<std::vector<int>>;

// Logical, with about `part` of the pixels set.
HostImage blobs(Size size, std::uint64_t seed, double part = 0.5) {
  const HostImage noise = test::test_image(PixelClass::uint16, 1, size, seed);
  std::vector<double> values;
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      // Neighbouring pixels together, so that there is something to thin.
      const auto at = noise.planes[0].row_as<std::uint16_t>(y / 2 * 2 % size.height)[x / 3 * 3];
      values.push_back(at * 7919 % 65536 < part * 65536 ? 1 : 0);
    }
  }
  HostImage out({.cls = PixelClass::logical, .channels = 1, .white = 1}, size);
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      out.planes[0].row_as<std::uint8_t>(y)[x] =
          static_cast<std::uint8_t>(values[static_cast<std::size_t>(y * size.width + x)]);
    }
  }
  return out;
}

Grid grid_of(const HostImage& image) {
  Grid out(static_cast<std::size_t>(image.size().height));
  for (std::size_t y = 0; y < out.size(); ++y) {
    for (std::int64_t x = 0; x < image.size().width; ++x) {
      const auto row = static_cast<std::int64_t>(y);
      out[y].push_back(image.type.cls == PixelClass::single
                           ? static_cast<int>(image.planes[0].row_as<float>(row)[x])
                       : image.type.cls == PixelClass::uint16
                           ? image.planes[0].row_as<std::uint16_t>(row)[x]
                           : image.planes[0].row_as<std::uint8_t>(row)[x]);
    }
  }
  return out;
}

int at(const Grid& g, int x, int y, int outside = 0) {
  const int height = static_cast<int>(g.size()), width = static_cast<int>(g[0].size());
  return x < 0 || x >= width || y < 0 || y >= height ? outside : g[y][x];
}

// The neighbours from the right one on, counter-clockwise.
std::vector<int> ring(const Grid& g, int x, int y, int outside = 0) {
  return {at(g, x + 1, y, outside),     at(g, x + 1, y - 1, outside), at(g, x, y - 1, outside),
          at(g, x - 1, y - 1, outside), at(g, x - 1, y, outside),     at(g, x - 1, y + 1, outside),
          at(g, x, y + 1, outside),     at(g, x + 1, y + 1, outside)};
}
int crossings(const std::vector<int>& n) {
  int out = 0;
  for (int i = 0; i < 8; i += 2) out += n[i] == 0 && (n[i + 1] != 0 || n[(i + 2) % 8] != 0);
  return out;
}
int sum(const std::vector<int>& n) { return static_cast<int>(std::count(n.begin(), n.end(), 1)); }

Grid thinned(Grid g) {
  for (const bool first : {true, false}) {
    const Grid before = g;
    for (int y = 0; y < static_cast<int>(g.size()); ++y) {
      for (int x = 0; x < static_cast<int>(g[0].size()); ++x) {
        if (before[y][x] == 0) continue;
        const auto n = ring(before, x, y);
        int n1 = 0, n2 = 0;
        for (int i = 0; i < 8; i += 2) {
          n1 += n[i] || n[i + 1];
          n2 += n[i + 1] || n[(i + 2) % 8];
        }
        const int least = std::min(n1, n2);
        const bool kept = first ? (n[1] || n[2] || !n[7]) && n[0] : (n[5] || n[6] || !n[3]) && n[4];
        if (crossings(n) == 1 && least >= 2 && least <= 3 && !kept) g[y][x] = 0;
      }
    }
  }
  return g;
}

// skel, shrink and spur: candidates of the iteration's start, field by field.
template <class Candidate, class Deleted>
Grid in_fields(Grid g, int outside, const Candidate& candidate, const Deleted& deleted) {
  const Grid start = g;
  const int height = static_cast<int>(g.size()), width = static_cast<int>(g[0].size());
  for (int field = 0; field < 4; ++field) {
    for (int y = field / 2; y < height; y += 2) {
      for (int x = field % 2; x < width; x += 2) {
        if (start[y][x] && candidate(ring(start, x, y, outside)) && deleted(ring(g, x, y, outside)))
          g[y][x] = 0;
      }
    }
  }
  return g;
}

Grid step_of(const std::string& name, const Grid& g) {
  if (name == "thin") return thinned(g);
  const auto border = [](const std::vector<int>& n) { return !(n[0] && n[2] && n[4] && n[6]); };
  const auto end = [](const std::vector<int>& n) { return sum(n) == 1; };
  if (name == "skel") {
    return in_fields(g, 0, border, [](const auto& n) { return crossings(n) == 1 && sum(n) != 1; });
  }
  if (name == "shrink") {
    return in_fields(g, 0, border, [](const auto& n) { return crossings(n) == 1; });
  }
  if (name == "spur") return in_fields(g, 1, end, end);
  Grid out = g;
  for (int y = 0; y < static_cast<int>(g.size()); ++y) {
    for (int x = 0; x < static_cast<int>(g[0].size()); ++x) {
      const auto n = ring(g, x, y);
      const int c = g[y][x], four = n[0] + n[2] + n[4] + n[6];
      if (name == "clean") out[y][x] = c && sum(n) > 0;
      if (name == "fill") out[y][x] = c || four == 4;
      if (name == "remove") out[y][x] = c && four < 4;
      if (name == "majority") out[y][x] = c + sum(n) >= 5;
      if (name == "diag") {
        for (int i = 0; i < 8; i += 2) out[y][x] |= n[i] && n[(i + 2) % 8] && !n[i + 1];
      }
    }
  }
  return out;
}

TEST(Bwmorph, IsItsRuleAgainAndAgain) {
  std::uint64_t seed = 1;
  for (const Size size : {Size{1, 1}, Size{1, 9}, Size{8, 1}, Size{37, 22}, Size{64, 65}}) {
    const HostImage image = blobs(size, ++seed);
    for (const std::string name :
         {"thin", "skel", "shrink", "spur", "clean", "fill", "remove", "majority", "diag"}) {
      Grid wanted = grid_of(image);
      for (int n = 0; n <= 3; ++n) {
        const std::string text = "bwmorph " + name + " " + std::to_string(n);
        EXPECT_EQ(grid_of(run(text, image).image), wanted) << text << " of " << to_string(size);
        wanted = step_of(name, wanted);
      }
      if (name == "majority") continue;  // may go to and fro
      for (Grid next; (next = step_of(name, wanted)) != wanted;) wanted = next;
      EXPECT_EQ(grid_of(run("bwmorph " + name + " inf", image).image), wanted) << name;
    }
  }
}

TEST(Bwmorph, MajorityStopsWhereTwoImagesTakeTurns) {
  // Stripes of columns: each is the majority beside the other.
  HostImage image({.cls = PixelClass::logical, .channels = 1, .white = 1}, {40, 30});
  for (std::int64_t y = 0; y < 30; ++y) {
    for (std::int64_t x = 0; x < 40; ++x) image.planes[0].row_as<std::uint8_t>(y)[x] = x % 2 == 0;
  }
  EXPECT_EQ(run("bwmorph majority inf", image).image.size(), image.size());
}

TEST(Bwmorph, SquaresAreThoseOfTheMorphology) {
  const HostImage image = blobs({50, 41}, 9);
  const struct {
    const char* own;
    const char* same;
  } pairs[] = {{"bwmorph dilate 2", "imdilate square,5"},   {"bwmorph erode 3", "imerode square,7"},
               {"bwmorph open 4", "imopen square,3"},       {"bwmorph close", "imclose square,3"},
               {"bwmorph tophat inf", "imtophat square,3"}, {"bwmorph bothat", "imbothat square,3"},
               {"bwmorph dilate inf", "map '1'"},           {"bwmorph erode inf", "map '0'"}};
  for (const auto& [own, same] : pairs) {
    EXPECT_EQ(test::difference(run(own, image).image, run(same, image).image), "") << own;
  }
}

TEST(Bwmorph, SaysWhatIsWrong) {
  const HostImage image = blobs({5, 5}, 3);
  EXPECT_NE(test::error_of("bwmorph bothat inf", image).find("n is at most 100"),
            std::string::npos);
  EXPECT_NE(test::error_of("bwmorph dilate 4001", image).find("n is at most 4000, or inf"),
            std::string::npos);
}

// MATLAB's strel("disk",5), as its documentation shows it.
TEST(Elements, ADiskOfFourLines) {
  HostImage image({.cls = PixelClass::logical, .channels = 1, .white = 1}, {11, 11});
  for (int y = 0; y < 11; ++y) std::fill_n(image.planes[0].row_as<std::uint8_t>(y), 11, 0);
  image.planes[0].row_as<std::uint8_t>(5)[5] = 1;
  const Grid made = grid_of(run("imdilate disk,5,4", image).image);
  for (int y = -5; y <= 5; ++y) {
    for (int x = -5; x <= 5; ++x) {
      const int across = std::abs(x), down = std::abs(y);
      const bool inside = across <= 4 && down <= 4 && across + down <= 6;
      EXPECT_EQ(made[y + 5][x + 5], inside) << x << ", " << y;
    }
  }
  EXPECT_EQ(
      test::difference(run("imdilate disk,2,4", image).image, run("imdilate disk,2", image).image),
      "");
}

TEST(Bwareafilt, KeepsTheLargestAndTheSmallest) {
  std::uint64_t seed = 20;
  for (const Size size : {Size{1, 1}, Size{30, 21}, Size{64, 33}}) {
    for (const int conn : {4, 8}) {
      const HostImage image = blobs(size, ++seed, 0.3);
      const std::string suffix = " conn=" + std::to_string(conn);
      const Grid labels = grid_of(run("bwlabel" + suffix, image).image);
      std::map<int, int> areas;
      for (const auto& row : labels) {
        for (const int label : row) areas[label] += label > 0;
      }
      areas.erase(0);
      for (const bool largest : {true, false}) {
        std::vector<std::pair<int, int>> order;
        for (const auto& [label, area] : areas) order.push_back({largest ? -area : area, label});
        std::sort(order.begin(), order.end());
        for (const std::size_t n : {1u, 2u, 5u, 1000u}) {
          std::set<int> kept;
          for (std::size_t i = 0; i < std::min(n, order.size()); ++i) kept.insert(order[i].second);
          Grid wanted = labels;
          for (auto& row : wanted) {
            for (int& v : row) v = kept.contains(v) ? 1 : 0;
          }
          const std::string text =
              "bwareafilt " + std::to_string(n) + (largest ? " largest" : " smallest") + suffix;
          EXPECT_EQ(grid_of(run(text, image).image), wanted) << text << " " << to_string(size);
        }
      }
      Grid wanted = labels;
      for (auto& row : wanted) {
        for (int& v : row) v = v > 0 && areas[v] >= 3 && areas[v] <= 12;
      }
      EXPECT_EQ(grid_of(run("bwareafilt range=3,12" + suffix, image).image), wanted);
    }
  }
}

// semantics-2.md 1.11, with a list that is sorted instead of a queue.
Grid flooded(const Grid& heights, Grid labels, int conn) {
  const int height = static_cast<int>(heights.size()), width = static_cast<int>(heights[0].size());
  std::vector<std::pair<int, int>> steps;
  for (int dx = -1; dx <= 1; ++dx) {
    for (int dy = -1; dy <= 1; ++dy) {
      if ((dx != 0 || dy != 0) && (conn == 8 || dx == 0 || dy == 0)) steps.push_back({dx, dy});
    }
  }
  std::set<std::tuple<int, int, int, int>> queue;  // height, sequence, x, y
  Grid queued = labels;
  int sequence = 0;
  const auto add = [&](int x, int y) {
    for (const auto& [dx, dy] : steps) {
      const int at_x = x + dx, at_y = y + dy;
      if (at(queued, at_x, at_y, 1) != 0) continue;
      queued[at_y][at_x] = 1;
      queue.insert({heights[at_y][at_x], sequence++, at_x, at_y});
    }
  };
  for (int x = 0; x < width; ++x) {
    for (int y = 0; y < height; ++y) {
      if (labels[y][x] != 0) add(x, y);
    }
  }
  while (!queue.empty()) {
    const auto [h, s, x, y] = *queue.begin();
    queue.erase(queue.begin());
    std::set<int> around;
    for (const auto& [dx, dy] : steps) {
      if (at(labels, x + dx, y + dy) != 0) around.insert(at(labels, x + dx, y + dy));
    }
    if (around.size() != 1) continue;
    labels[y][x] = *around.begin();
    add(x, y);
  }
  return labels;
}

TEST(Watershed, FloodsInTheOrderOfTheDefinition) {
  std::uint64_t seed = 40;
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16}) {
    for (const Size size : {Size{1, 1}, Size{1, 19}, Size{31, 17}, Size{40, 66}}) {
      const HostImage noise = test::test_image(cls, 1, size, ++seed);
      for (const std::string relief : {"imgaussfilt 2", "map 'floor(x / 40)'"}) {
        const HostImage image = run(relief, noise).image;
        for (const int conn : {4, 8}) {
          const std::string suffix = " conn=" + std::to_string(conn);
          const Grid minima =
              grid_of(run("imregionalmin" + suffix + " | bwlabel" + suffix, image).image);
          EXPECT_EQ(grid_of(run("watershed" + suffix, image).image),
                    flooded(grid_of(image), minima, conn))
              << relief << suffix << " of " << to_string(size);
        }
      }
    }
  }
}

TEST(Watershed, RefusesNan) {
  HostImage image({.cls = PixelClass::single, .channels = 1, .white = 1}, {3, 1});
  std::fill_n(image.planes[0].row_as<float>(0), 3, 0.5f);
  image.planes[0].row_as<float>(0)[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(test::error_of("watershed", image, {}, {.level = CpuLevel::baseline})
                .find("watershed: the image has NaN"),
            std::string::npos);
}

// One object; rows of '#'.
std::vector<double> measured(const std::vector<std::string>& rows, const std::string& arguments) {
  const Size size{static_cast<std::int64_t>(rows[0].size()),
                  static_cast<std::int64_t>(rows.size())};
  HostImage image({.cls = PixelClass::logical, .channels = 1, .white = 1}, size);
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      image.planes[0].row_as<std::uint8_t>(y)[x] = rows[y][x] == '#' ? 1 : 0;
    }
  }
  const std::vector<double> all = run("regionprops " + arguments, image).measurement;
  EXPECT_EQ(all.at(0), 1);
  return {all.begin() + 1, all.end()};
}

double column(const std::vector<double>& row, const std::string& name) {
  const std::vector<std::string> names = object_columns(true);
  const auto found = std::find(names.begin(), names.end(), name);
  return row.at(static_cast<std::size_t>(found - names.begin()));
}

TEST(Regionprops, MeasuresShapesByHand) {
  const auto square = measured({".....", ".##..", ".##..", "....."}, "");
  EXPECT_EQ(column(square, "Area"), 4);
  EXPECT_EQ(column(square, "Centroid_x"), 2.5);
  EXPECT_EQ(column(square, "BoundingBox_x"), 1.5);
  EXPECT_EQ(column(square, "BoundingBox_w"), 2);
  // Four steps along rows and columns in turn: four corners.
  EXPECT_NEAR(column(square, "Perimeter"), 4 * 0.980 - 4 * 0.091, 1e-12);
  EXPECT_EQ(column(square, "Solidity"), 1);
  EXPECT_EQ(column(square, "EulerNumber"), 1);
  // Variance 1/4 and 1/12 of a square pixel: 4 sqrt(1/3).
  EXPECT_NEAR(column(square, "MajorAxisLength"), 4 * std::sqrt(1.0 / 3), 1e-12);
  EXPECT_EQ(column(square, "Eccentricity"), 0);
  const auto from_0 = measured({".....", ".##..", ".##..", "....."}, "origin=0");
  EXPECT_EQ(column(from_0, "Centroid_x"), 1.5);
  EXPECT_EQ(column(from_0, "BoundingBox_x"), 1);
  const auto ring_shape = measured({"###", "#.#", "###"}, "");
  EXPECT_EQ(column(ring_shape, "EulerNumber"), 0);
  EXPECT_NEAR(column(ring_shape, "Solidity"), 8.0 / 9, 1e-12);
  const auto dot = measured({"#"}, "");
  EXPECT_EQ(column(dot, "Perimeter"), 0);
  const auto pair = measured({"##"}, "");
  EXPECT_NEAR(column(pair, "Perimeter"), 1.96, 1e-12);
  EXPECT_FALSE(std::signbit(column(pair, "Orientation")));  // 0, which no table shows as -0
  // Down to the right: 45 degrees clockwise.
  const auto slope = measured({"#..", ".#.", "..#"}, "");
  EXPECT_NEAR(column(slope, "Orientation"), -45, 1e-9);
  EXPECT_NEAR(column(slope, "Extent"), 1.0 / 3, 1e-12);
}

TEST(Regionprops, ValuesOfOtherClassesAreLabels) {
  HostImage labels({.cls = PixelClass::uint8, .channels = 1, .white = 255}, {4, 1});
  const std::uint8_t values[] = {7, 0, 3, 7};
  std::copy(std::begin(values), std::end(values), labels.planes[0].row_as<std::uint8_t>(0));
  const std::vector<double> table = run("regionprops", labels).measurement;
  const auto columns = object_columns(false).size();
  ASSERT_EQ(table.size(), 1 + 2 * columns);
  EXPECT_EQ(table[1], 3);
  EXPECT_EQ(table[1 + columns], 7);
  EXPECT_EQ(table[2 + columns], 2);
}

TEST(Regionprops, TakesIntensitiesOfASecondImage) {
  const HostImage gray = test::test_image(PixelClass::uint8, 1, {9, 6}, 4);
  HostImage all({.cls = PixelClass::logical, .channels = 1, .white = 1}, {9, 6});
  for (std::int64_t y = 0; y < 6; ++y) std::fill_n(all.planes[0].row_as<std::uint8_t>(y), 9, 1);
  const std::vector<double> row = run("regionprops image=:g", all, {{"g", gray}}).measurement;
  const std::vector<double> whole = run("stats", gray).columns;  // min max sum mean2 std2
  const std::vector<double> numbers(row.begin() + 1, row.end());
  EXPECT_EQ(column(numbers, "MinIntensity"), whole[0]);
  EXPECT_EQ(column(numbers, "MaxIntensity"), whole[1]);
  EXPECT_NEAR(column(numbers, "MeanIntensity"), whole[3], 1e-12);
}

}  // namespace
}  // namespace impipe
