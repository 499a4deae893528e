// The angle at which the ink of a page lies in few lines: sums along lines of each angle.
#include "core/page_operation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/body.hpp"
#include "core/has_v3.hpp"
#include "core/shared_pool.hpp"

namespace impipe {
namespace {

constexpr std::size_t block = 8;  // pixels that are projected together

// The ink of a page in rows, from its middle. Columns of a row fill up their last block.
struct Ink {
  struct Row {
    double y = 0;
    std::size_t begin = 0, count = 0;  // of the columns
  };
  std::vector<Row> rows;
  std::vector<double> columns;
  std::int64_t reach = 0;  // of lines from the middle one, at any angle
};

Ink ink_of(const Plane& page) {
  Ink out{.reach = (page.size().width + page.size().height) / 2 + 2};
  const double middle_x = static_cast<double>(page.size().width - 1) / 2;
  const double middle_y = static_cast<double>(page.size().height - 1) / 2;
  for (std::int64_t y = 0; y < page.size().height; ++y) {
    const auto* row = page.row_as<std::uint8_t>(y);
    const std::size_t begin = out.columns.size();
    for (std::int64_t x = 0; x < page.size().width; ++x) {
      if (row[x] != 0) out.columns.push_back(static_cast<double>(x) - middle_x);
    }
    const std::size_t count = out.columns.size() - begin;
    if (count == 0) continue;
    out.rows.push_back({static_cast<double>(y) - middle_y, begin, count});
    out.columns.resize(begin + (count + block - 1) / block * block);
  }
  return out;
}

// Line i of the page has counts 4 i to 4 i + 3, which neighbouring pixels take in turn: those of a
// row lie in few lines, and a count that is read at once after it was written makes them wait.
IMPIPE_INLINE void count_lines(const Ink& ink, double cosine, double sine, std::int32_t* counts) {
  std::int32_t lines[block];
  for (const Ink::Row& row : ink.rows) {
    const double down = row.y * cosine;
    for (std::size_t i = 0; i < row.count; i += block) {
      const double* columns = ink.columns.data() + row.begin + i;
      for (std::size_t k = 0; k < block; ++k) {
        lines[k] = static_cast<std::int32_t>(std::floor(down + columns[k] * sine + 0.5));
      }
      const std::size_t left = std::min(block, row.count - i);
      for (std::size_t k = 0; k < left; ++k) {
        ++counts[4 * lines[k] + static_cast<std::int32_t>(k % 4)];
      }
    }
  }
}

using CountLines = void(const Ink&, double, double, std::int32_t*);
void count_lines_v1(const Ink& ink, double cosine, double sine, std::int32_t* counts) {
  count_lines(ink, cosine, sine, counts);
}
IMPIPE_TARGET_v3 void count_lines_v3(const Ink& ink, double cosine, double sine,
                                     std::int32_t* counts) {
  count_lines(ink, cosine, sine, counts);
}

// The sum of the squared differences of neighbouring lines' ink.
double score_of(const Ink& ink, double degrees) {
  static CountLines* const count = has_v3() ? count_lines_v3 : count_lines_v1;
  const double radians = degrees * std::numbers::pi / 180;
  std::vector<std::int32_t> counts(static_cast<std::size_t>(4 * (2 * ink.reach + 1)));
  count(ink, std::cos(radians), std::sin(radians), counts.data() + 4 * ink.reach);
  double score = 0;
  std::int64_t before = 0;
  for (std::size_t i = 0; i < counts.size(); i += 4) {
    const std::int64_t line =
        std::int64_t{counts[i]} + counts[i + 1] + counts[i + 2] + counts[i + 3];
    const auto difference = static_cast<double>(line - before);
    score += difference * difference;
    before = line;
  }
  return score;
}

}  // namespace

double deskew_angle(const Plane& ink, double range, double step) {
  const Ink pixels = ink_of(ink);
  if (pixels.rows.empty()) return 0;
  const auto steps = static_cast<std::int64_t>(std::floor(range / step + 1e-9));
  // 0, 1, -1, 2, -2, ...: of equal scores the first is taken.
  const auto multiple = [](std::int64_t i) {
    return static_cast<double>((i + 1) / 2) * (i % 2 == 1 ? 1 : -1);
  };
  std::vector<double> scores(static_cast<std::size_t>(2 * steps + 1));
  for_each_shared(2 * steps + 1, [&](std::int64_t i) {
    scores[static_cast<std::size_t>(i)] = score_of(pixels, multiple(i) * step);
  });
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  return best == 0 ? 0 : -(multiple(static_cast<std::int64_t>(best)) * step);
}

}  // namespace impipe
