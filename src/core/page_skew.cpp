// The angle at which the ink of a page lies in few lines: sums along lines of each angle.
#include "core/page_skew.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include "core/shared_pool.hpp"

namespace impipe {
namespace {

struct Ink {
  double x, y;  // from the middle of the page
};

std::vector<Ink> ink_of(const Plane& page) {
  std::vector<Ink> out;
  const double middle_x = static_cast<double>(page.size().width - 1) / 2;
  const double middle_y = static_cast<double>(page.size().height - 1) / 2;
  for (std::int64_t y = 0; y < page.size().height; ++y) {
    const auto* row = page.row_as<std::uint8_t>(y);
    for (std::int64_t x = 0; x < page.size().width; ++x) {
      if (row[x] == 0) continue;
      out.push_back({static_cast<double>(x) - middle_x, static_cast<double>(y) - middle_y});
    }
  }
  return out;
}

// The sum of the squared differences of neighbouring lines' ink.
double score_of(const std::vector<Ink>& ink, Size size, double degrees) {
  const double radians = degrees * std::numbers::pi / 180;
  const double cosine = std::cos(radians), sine = std::sin(radians);
  const std::int64_t reach = (size.width + size.height) / 2 + 2;
  std::vector<std::int64_t> lines(static_cast<std::size_t>(2 * reach + 1));
  for (const Ink& at : ink) {
    const auto line = static_cast<std::int64_t>(std::floor(at.y * cosine + at.x * sine + 0.5));
    ++lines[static_cast<std::size_t>(line + reach)];
  }
  double score = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto difference = static_cast<double>(lines[i] - lines[i - 1]);
    score += difference * difference;
  }
  return score;
}

}  // namespace

double deskew_angle(const Plane& ink, double range, double step) {
  const std::vector<Ink> pixels = ink_of(ink);
  if (pixels.empty()) return 0;
  const auto steps = static_cast<std::int64_t>(std::floor(range / step + 1e-9));
  // 0, 1, -1, 2, -2, ...: of equal scores the first is taken.
  const auto multiple = [](std::int64_t i) {
    return static_cast<double>((i + 1) / 2) * (i % 2 == 1 ? 1 : -1);
  };
  std::vector<double> scores(static_cast<std::size_t>(2 * steps + 1));
  for_each_shared(2 * steps + 1, [&](std::int64_t i) {
    scores[static_cast<std::size_t>(i)] = score_of(pixels, ink.size(), multiple(i) * step);
  });
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  return best == 0 ? 0 : -(multiple(static_cast<std::int64_t>(best)) * step);
}

}  // namespace impipe
