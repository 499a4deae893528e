// adapthisteq, entropyfilt, imblend and imoverlay against their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iomanip>
#include <map>
#include <sstream>

#include "core/deviation.hpp"
#include "support/pipeline_runner.hpp"
#include "support/reference/image.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

using reference::Image;
using test::run;

std::int64_t mirrored(std::int64_t i, std::int64_t n) {
  while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
  return i;
}

struct Side {
  int tiles, tile, before, length;
};
Side side_of(int length, int tiles) {
  int padded = length + (tiles - length % tiles) % tiles;
  if (padded / tiles % 2 != 0) padded += tiles;
  return {tiles, padded / tiles, (padded - length) / 2, padded};
}

// semantics-2.md 4.1, one channel.
Image equalised(const Image& a, int rows, int columns, double clip, int bins) {
  const double white = a.white;
  const Side y = side_of(a.rows, rows), x = side_of(a.columns, columns);
  const auto bin = [&](double v) {
    return static_cast<int>(std::floor(std::clamp(v, 0.0, white) * (bins - 1) / white + 0.5));
  };
  std::vector<std::vector<double>> maps;
  const double n = y.tile * x.tile, least = std::ceil(n / bins);
  const double limit = least + std::floor(clip * (n - least) + 0.5);
  for (int ty = 0; ty < rows; ++ty) {
    for (int tx = 0; tx < columns; ++tx) {
      std::vector<double> h(static_cast<std::size_t>(bins));
      for (int i = 0; i < y.tile; ++i) {
        for (int j = 0; j < x.tile; ++j) {
          const auto row = mirrored(ty * y.tile + i - y.before, a.rows);
          const auto column = mirrored(tx * x.tile + j - x.before, a.columns);
          ++h[bin(a.at(static_cast<int>(row), static_cast<int>(column)))];
        }
      }
      double rest = 0;
      for (const double count : h) rest += std::max(count - limit, 0.0);
      const double each = std::floor(rest / bins), upper = limit - each;
      for (double& count : h) {
        if (count > limit) {
          count = limit;
        } else if (count > upper) {
          rest -= limit - count;
          count = limit;
        } else {
          rest -= each;
          count += each;
        }
      }
      for (int k = 0; rest > 0; k = (k + 1) % bins) {
        const int step = std::max(static_cast<int>(std::floor(bins / rest)), 1);
        for (int m = k; m < bins && rest > 0; m += step) {
          if (h[m] >= limit) continue;
          ++h[m];
          --rest;
        }
      }
      double sum = 0;
      for (double& count : h) {
        sum += count;
        count = std::min(sum * (white / n), white);
        if (a.cls != PixelClass::single) count = std::floor(count + 0.5);
      }
      maps.push_back(h);
    }
  }
  Image out = a;
  // The tiles before and after a place, its weight and what weights are parts of.
  struct Between {
    int first, second;
    double weight, all;
  };
  const auto between = [](int place, const Side& s) {
    const int half = s.tile / 2, k = (place + half) / s.tile;
    const bool end = k == 0 || k == s.tiles;
    return Between{std::clamp(k - 1, 0, s.tiles - 1), std::min(k, s.tiles - 1),
                   static_cast<double>(k == 0 ? place : (place + half) % s.tile),
                   static_cast<double>(end ? half : s.tile)};
  };
  for (int row = 0; row < a.rows; ++row) {
    for (int column = 0; column < a.columns; ++column) {
      const Between v = between(row + y.before, y), h = between(column + x.before, x);
      const int k = bin(a.at(row, column));
      const auto map = [&](int ty, int tx) { return maps[ty * columns + tx][k]; };
      const double upper =
          (h.all - h.weight) * map(v.first, h.first) + h.weight * map(v.first, h.second);
      const double lower =
          (h.all - h.weight) * map(v.second, h.first) + h.weight * map(v.second, h.second);
      out.at(row, column) =
          reference::cast(a.cls, ((v.all - v.weight) * upper + v.weight * lower) / (v.all * h.all));
    }
  }
  return out;
}

// The CPU, and what GPUs there are.
std::vector<std::string> backends() {
  std::vector<std::string> names{""};
  for (const char* name : {"opencl", "cuda"}) {
    if (test::has_device(name)) names.emplace_back(name);
  }
  return names;
}

TEST(Adapthisteq, IsTheDefinition) {
  std::uint64_t seed = 60;
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Size size :
         {Size{1, 1}, Size{31, 17}, Size{64, 48}, Size{5, 90}, Size{317, 203}, Size{318, 203}}) {
      // Dark ones have few bins, of which much is cut off and given to all in many rounds.
      const bool dark = seed++ % 2 == 0;
      const HostImage any = test::test_image(cls, 1, size, seed);
      const HostImage image = dark ? run("map 'x / 8'", any).image : any;
      const Image a = reference::from_host(image);
      for (const double clip : {0.0, 0.02, 0.3, 1.0}) {
        const std::string suffix = " clip=" + std::to_string(clip);
        const double tolerance = cls == PixelClass::single ? 2e-6 : 0;
        const Image wanted = equalised(a, 4, 3, clip, 64);
        const HostImage on_cpu = run("adapthisteq 4,3 n64" + suffix, image).image;
        for (const std::string& backend : backends()) {
          const HostImage made =
              run("adapthisteq 4,3 n64" + suffix, image, {}, {.backend = backend}).image;
          EXPECT_EQ(test::difference(wanted, made, tolerance, 0.02), "")
              << suffix << " of " << test::describe(image) << " by " << backend;
          EXPECT_EQ(test::difference(on_cpu, made), "")
              << suffix << " of " << test::describe(image) << " by " << backend;
        }
      }
    }
  }
}

TEST(Adapthisteq, EachChannelByItself) {
  const HostImage image = test::test_image(PixelClass::uint8, 3, {40, 33}, 5);
  const HostImage made = run("adapthisteq 2,2", image).image;
  for (const std::string channel : {"channel r", "channel g", "channel b"}) {
    EXPECT_EQ(test::difference(run(channel, made).image,
                               run(channel + " | adapthisteq 2,2", image).image),
              "");
  }
  EXPECT_NE(test::error_of("adapthisteq tiles=64,64 bins=65536", image)
                .find("tiles times bins are at most 1048576"),
            std::string::npos);
}

// Of bytes by exact sums, which a small difference beside a large value does not get lost in.
TEST(Stdfilt, OfBytesIsTheDeviationToTheLastDigits) {
  HostImage image = test::test_image(PixelClass::uint8, 1, {75, 60}, 17);
  for (int y = 20; y < 50; ++y) {
    for (int x = 5; x < 50; ++x) image.planes[0].row_as<std::uint8_t>(y)[x] = x == 30 ? 254 : 255;
  }
  const Image a = reference::from_host(image);
  const std::pair<int, int> sides[] = {{9, 9}, {4, 7}, {31, 31}, {2, 12}};
  for (const auto& [rows, columns] : sides) {
    const std::string text =
        "stdfilt rectangle," + std::to_string(rows) + "," + std::to_string(columns);
    Image wanted = a;
    wanted.cls = PixelClass::single;
    for (int row = 0; row < a.rows; ++row) {
      for (int column = 0; column < a.columns; ++column) {
        double sum = 0, squares = 0;
        for (int i = 0; i < rows; ++i) {
          for (int j = 0; j < columns; ++j) {
            const double v =
                a.at(static_cast<int>(mirrored(row + i - (rows - 1) / 2, a.rows)),
                     static_cast<int>(mirrored(column + j - (columns - 1) / 2, a.columns)));
            sum += v;
            squares += v * v;
          }
        }
        const double n = static_cast<double>(rows) * columns;
        wanted.at(row, column) = std::sqrt((n * squares - sum * sum) / (n * (n - 1)));
      }
    }
    for (const std::string& backend : backends()) {
      const HostImage made = run(text, image, {}, {.backend = backend}).image;
      EXPECT_EQ(test::difference(wanted, made, 2e-5, 0), "") << text << " by " << backend;
    }
  }
}

// The noise in squared codes.
Image denoised(const Image& a, int rows, int columns, double noise) {
  Image wanted = a;
  for (int row = 0; row < a.rows; ++row) {
    for (int column = 0; column < a.columns; ++column) {
      double sum = 0, squares = 0;
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
          const int y = row + i - (rows - 1) / 2, x = column + j - (columns - 1) / 2;
          if (y < 0 || x < 0 || y >= a.rows || x >= a.columns) continue;
          sum += a.at(y, x);
          squares += a.at(y, x) * a.at(y, x);
        }
      }
      const double n = static_cast<double>(rows) * columns, mean = sum / n;
      const double variance = (n * squares - sum * sum) / (n * n);
      const double kept = std::max(0.0, variance - noise) / std::max(variance, noise);
      wanted.at(row, column) = std::round(mean + kept * (a.at(row, column) - mean));
    }
  }
  return wanted;
}

// By exact sums: variances of a few codes beside 60,000 are not lost.
TEST(Wiener2, Of16BitsKeepsSmallVariances) {
  HostImage image = test::test_image(PixelClass::uint16, 1, {75, 60}, 19);
  for (int y = 0; y < 60; ++y) {
    std::uint16_t* row = image.planes[0].row_as<std::uint16_t>(y);
    for (int x = 0; x < 75; ++x) row[x] = static_cast<std::uint16_t>(60000 + row[x] % 40);
  }
  const Image a = reference::from_host(image);
  const std::pair<int, int> sides[] = {{3, 3}, {5, 4}, {1, 9}, {16, 16}};
  for (const auto& [rows, columns] : sides) {
    std::ostringstream text;
    text << "wiener2 " << rows << "," << columns << " noise=" << std::setprecision(17)
         << 90.0 / 65535 / 65535;
    const Image wanted = denoised(a, rows, columns, 90);
    for (const std::string& backend : backends()) {
      const HostImage made = run(text.str(), image, {}, {.backend = backend}).image;
      EXPECT_EQ(test::difference(wanted, made, 0, 0.001), "") << text.str() << " by " << backend;
    }
  }
}

// A mask of cells up to `left` and `up` beside its pixel, and as the text of a matrix.
struct Cells {
  int rows, columns;
  std::function<bool(int row, int column)> set;
  int up() const { return (rows - 1) / 2; }
  int left() const { return (columns - 1) / 2; }
  std::string text() const {
    std::string out = "[";
    for (int i = 0; i < rows; ++i) {
      out += i == 0 ? "" : "; ";
      for (int j = 0; j < columns; ++j) out += set(i, j) ? "1 " : "0 ";
    }
    return out + "]";
  }
};

// Sums in float32 of values counted from the first of them.
struct FloatSums {
  float from = 0, sum = 0, squares = 0;
  void take(float v) {
    const float apart = v - from;
    sum += apart;
    squares = std::fma(apart, apart, squares);
  }
  float rest(float part) const {
    const float out = squares - sum * part * sum;
    return out < 0 ? 0 : out;
  }
};

// core/kernel_spec.hpp, Moments: columns, then the row of their means.
float deviation_by_passes(const std::function<float(int, int)>& at, int rows, int columns) {
  const float down = 1.0f / static_cast<float>(rows), across = 1.0f / static_cast<float>(columns);
  FloatSums means;
  float within = 0;
  for (int j = 0; j < columns; ++j) {
    FloatSums column{.from = at(0, j)};
    for (int i = 0; i < rows; ++i) column.take(at(i, j));
    const float mean = std::fma(column.sum, down, column.from);
    if (j == 0) means.from = mean;
    means.take(mean);
    within += column.rest(down);
  }
  const float squares = std::fma(static_cast<float>(rows), means.rest(across), within);
  return std::sqrt(squares * (1.0f / static_cast<float>(std::max(rows * columns - 1, 1))));
}

// The same of any mask: runs of its columns.
float deviation_of_cells(const std::function<float(int, int)>& at, const Cells& cells) {
  FloatSums all;
  int count = 0;
  for (int j = 0; j < cells.columns; ++j) {
    FloatSums run;
    for (int i = 0; i <= cells.rows; ++i) {
      if (i < cells.rows && cells.set(i, j)) {
        if (count++ == 0) all.from = at(i, j);
        run.from = all.from;
        run.take(at(i, j));
      } else {
        all.sum += run.sum;
        all.squares += run.squares;
        run = {.from = all.from};
      }
    }
  }
  const float rest = all.rest(1.0f / static_cast<float>(count));
  return std::sqrt(rest * (1.0f / static_cast<float>(std::max(count - 1, 1))));
}

// core/deviation.hpp: columns of runs that hold one another, by what is added to the shortest.
float deviation_of_nested(const std::function<float(int, int)>& at, const Cells& cells) {
  struct Run {
    int column, first, last;
  };
  std::vector<Run> runs;
  int count = 0;
  for (int j = 0; j < cells.columns; ++j) {
    Run run{j, cells.rows, -1};
    for (int i = 0; i < cells.rows; ++i) {
      if (!cells.set(i, j)) continue;
      run.first = std::min(run.first, i);
      run.last = i;
      ++count;
    }
    if (run.last >= 0) runs.push_back(run);
  }
  std::ranges::stable_sort(runs, {}, [](const Run& run) { return run.last - run.first; });
  FloatSums means;
  float within = 0;
  for (const Run& run : runs) {
    const int start = runs.front().first;
    FloatSums column{.from = at(start, run.column)};
    int top = start, bottom = start;
    for (const Run& part : runs) {
      while (bottom < std::min(part.last, run.last)) column.take(at(++bottom, run.column));
      while (top > std::max(part.first, run.first)) column.take(at(--top, run.column));
    }
    const float n = static_cast<float>(run.last - run.first + 1);
    const float mean = std::fma(column.sum, 1.0f / n, column.from);
    if (&run == &runs.front()) means.from = mean;
    const float apart = mean - means.from, all_apart = n * apart;
    within += column.rest(1.0f / n);
    means.sum += all_apart;
    means.squares = std::fma(all_apart, apart, means.squares);
  }
  const float squares = within + means.rest(1.0f / static_cast<float>(count));
  return std::sqrt(squares * (1.0f / static_cast<float>(std::max(count - 1, 1))));
}

bool is_nested(const Cells& cells) {
  Mask mask{cells.columns, cells.rows, cells.left(), cells.up(), {}};
  for (int i = 0; i < cells.rows; ++i) {
    for (int j = 0; j < cells.columns; ++j) mask.cells.push_back(cells.set(i, j) ? 1 : 0);
  }
  return nested_columns(mask).has_value();
}

Image deviations(const HostImage& image, const Cells& cells, bool by_passes) {
  const bool nested = is_nested(cells);
  const Image a = reference::from_host(image);
  Image wanted = a;
  wanted.cls = PixelClass::single;
  for (int row = 0; row < a.rows; ++row) {
    for (int column = 0; column < a.columns; ++column) {
      const auto at = [&](int i, int j) {
        return static_cast<float>(
            a.at(static_cast<int>(mirrored(row + i - cells.up(), a.rows)),
                 static_cast<int>(mirrored(column + j - cells.left(), a.columns))));
      };
      wanted.at(row, column) = by_passes ? deviation_by_passes(at, cells.rows, cells.columns)
                               : nested  ? deviation_of_nested(at, cells)
                                         : deviation_of_cells(at, cells);
    }
  }
  return wanted;
}

// Every form, of images smaller than a window and of several tiles, on every level.
TEST(Stdfilt, IsItsDefinitionToTheLastBit) {
  const auto disk = [](int r) {
    return Cells{2 * r + 1, 2 * r + 1,
                 [r](int i, int j) { return (i - r) * (i - r) + (j - r) * (j - r) <= r * r; }};
  };
  const auto rectangle = [](int rows, int columns) {
    return Cells{rows, columns, [](int, int) { return true; }};
  };
  const Cells masks[] = {disk(2),
                         disk(7),
                         {9, 9, [](int i, int j) { return i == j; }},
                         {3, 20, [](int i, int j) { return (i * 7 + j) % 3 != 1 || j == 11; }},
                         {2, 2, [](int i, int j) { return i == 1 && j == 0; }},
                         rectangle(4, 4),
                         rectangle(9, 5),
                         rectangle(1, 12),
                         rectangle(31, 1),
                         rectangle(33, 40)};
  std::uint64_t seed = 90;
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Size size : {Size{1, 1}, Size{23, 9}, Size{140, 75}}) {
      const HostImage image = test::test_image(cls, 1, size, ++seed);
      for (const Cells& cells : masks) {
        const bool full = cells.text().find('0') == std::string::npos;
        const bool small =
            std::min(cells.rows, cells.columns) > 1 && std::max(cells.rows, cells.columns) <= 31;
        if (full && small && bytes_of(cls) == 1) continue;  // by exact sums
        const std::string text = "stdfilt " + cells.text();
        const Image wanted = deviations(image, cells, full);
        for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::v3, CpuLevel::v4}) {
          if (!test::has_level(level)) continue;
          const HostImage made = run(text, image, {}, {.level = level, .backend = "cpu"}).image;
          ASSERT_EQ(test::difference(wanted, made, 0, 0), "") << text << test::describe(image);
        }
        if (size.width != 140 || cls != PixelClass::uint16) continue;
        for (const std::string& backend : backends()) {
          const HostImage made = run(text, image, {}, {.backend = backend}).image;
          ASSERT_EQ(test::difference(wanted, made, 0, 0), "") << text << " by " << backend;
        }
      }
    }
  }
}

// Level parts are 0, and values far from 0 differ by what they differ by; NaN is in every window
// that has it.
TEST(Stdfilt, OfFloatsKeepsSmallDifferences) {
  HostImage image = test::test_image(PixelClass::single, 1, {90, 40}, 23);
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 90; ++x) {
      image.planes[0].row_as<float>(y)[x] =
          x < 30 ? 0.1f : 1e6f + static_cast<float>((x * 7 + y * 5) % 8) / 16;
    }
  }
  image.planes[0].row_as<float>(20)[80] = std::nanf("");
  for (const std::string domain : {"disk,3", "square,7", "diamond,4", "square,16"}) {
    const HostImage made = run("stdfilt " + domain, image).image;
    const auto at = [&](int x, int y) { return made.planes[0].row_as<float>(y)[x]; };
    EXPECT_EQ(at(10, 10), 0) << domain;
    EXPECT_EQ(at(0, 39), 0) << domain;
    EXPECT_NEAR(at(50, 20), 0.1455, 5e-3) << domain;
    EXPECT_TRUE(std::isnan(at(80, 20)) && std::isnan(at(78, 19)) && !std::isnan(at(60, 20)))
        << domain;
  }
}

TEST(Stdfilt, HasAsManyCellsAsAnEntropy) {
  const HostImage bytes = test::test_image(PixelClass::uint8, 1, {9, 9}, 1);
  EXPECT_NE(test::error_of("stdfilt disk,150", bytes)
                .find("a domain has at most 65535 cells that are 1, this one has 70681"),
            std::string::npos);
}

TEST(Entropyfilt, IsTheEntropyOfTheWindow) {
  std::uint64_t seed = 80;
  for (const PixelClass cls : {PixelClass::logical, PixelClass::uint8, PixelClass::uint16}) {
    for (const Size size : {Size{1, 1}, Size{1, 17}, Size{31, 17}}) {
      const HostImage image = test::test_image(cls, 1, size, ++seed);
      const Image codes =
          reference::from_host(cls == PixelClass::logical ? image : run("im2uint8", image).image);
      const struct {
        const char* text;
        int width, height, left, up;
      } windows[] = {{"entropyfilt", 9, 9, 4, 4}, {"entropyfilt rectangle,2,5", 5, 2, 2, 0}};
      for (const auto& w : windows) {
        Image wanted = codes;
        wanted.cls = PixelClass::single;
        wanted.white = 0;
        for (int row = 0; row < codes.rows; ++row) {
          for (int column = 0; column < codes.columns; ++column) {
            std::map<double, double> counts;
            for (int i = 0; i < w.height; ++i) {
              for (int j = 0; j < w.width; ++j) {
                ++counts[codes.at(static_cast<int>(mirrored(row + i - w.up, codes.rows)),
                                  static_cast<int>(mirrored(column + j - w.left, codes.columns)))];
              }
            }
            double entropy = 0;
            for (const auto& [code, count] : counts) {
              const double p = count / (w.width * w.height);
              entropy -= p * std::log2(p);
            }
            wanted.at(row, column) = entropy;
          }
        }
        EXPECT_EQ(test::difference(wanted, run(w.text, image).image, 1e-6), "")
            << w.text << " of " << test::describe(image);
      }
    }
  }
}

TEST(Imblend, LaysAnImageOverAnother) {
  const HostImage image = test::test_image(PixelClass::uint8, 3, {20, 9}, 1);
  const HostImage other = test::test_image(PixelClass::uint8, 1, {20, 9}, 2);
  EXPECT_EQ(test::difference(run("imblend :b alpha=0.25", image, {{"b", other}}).image,
                             run("map 'x + 0.25 * (b2 - x)'", image, {{"b2", other}}).image),
            "");
  EXPECT_EQ(test::difference(run("imblend :b alpha=0", image, {{"b", other}}).image, image), "");
  const HostImage mask = run("imbinarize 0.5", other).image;
  EXPECT_EQ(
      test::difference(run("imblend :b alpha=1 mask=:m", image, {{"b", other}, {"m", mask}}).image,
                       run("map 'm ? b2 : x'", image, {{"b2", other}, {"m", mask}}).image),
      "");
}

TEST(Imoverlay, ALogicalImageBecomesBlackAndWhite) {
  const HostImage gray = test::test_image(PixelClass::uint8, 1, {20, 9}, 2);
  const std::map<std::string, HostImage> mask{{"m", run("imbinarize 0.7", gray).image}};
  const HostImage set = run("imbinarize 0.3", gray).image;
  EXPECT_EQ(test::difference(run("imoverlay :m", run("im2uint8", set).image, mask).image,
                             run("imoverlay :m", set, mask).image),
            "");
}

TEST(Imoverlay, PaintsWhereTheMaskIsSet) {
  const HostImage gray = test::test_image(PixelClass::uint8, 1, {20, 9}, 2);
  const HostImage mask = run("imbinarize 0.5", gray).image;
  const HostImage made = run("imoverlay :m color=1,0,0.5", gray, {{"m", mask}}).image;
  ASSERT_EQ(made.type.channels, 3);
  const Image a = reference::from_host(gray), m = reference::from_host(mask);
  const Image got = reference::from_host(made);
  for (int row = 0; row < a.rows; ++row) {
    for (int column = 0; column < a.columns; ++column) {
      const bool set = m.at(row, column) != 0;
      const double wanted[] = {255, 0, 128};
      for (int c = 0; c < 3; ++c) {
        EXPECT_EQ(got.at(row, column, c), set ? wanted[c] : a.at(row, column));
      }
    }
  }
}

TEST(Imreconstruct, TakesALogicalMarker) {
  const HostImage image = test::test_image(PixelClass::uint8, 1, {31, 17}, 2);
  const HostImage marks = run("imregionalmax", image).image;
  EXPECT_EQ(
      test::difference(
          run("imreconstruct :g", marks, {{"g", image}}).image,
          run("map 'm ? 255 : 0' | imreconstruct :g", image, {{"g", image}, {"m", marks}}).image),
      "");
}

}  // namespace
}  // namespace impipe
