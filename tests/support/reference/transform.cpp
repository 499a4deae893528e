// Distance transform, dithering and projections, naively.
#include "support/reference/transform.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <tuple>

namespace impipe::reference {
namespace {

double distance(int across, int down, std::string_view metric) {
  const int most = std::max(across, down), least = std::min(across, down);
  if (metric == "cityblock") return across + down;
  if (metric == "chessboard") return most;
  if (metric == "quasi-euclidean") return most + (std::sqrt(2.0) - 1) * least;
  return std::sqrt(static_cast<double>(across) * across + static_cast<double>(down) * down);
}

}  // namespace

Image bwdist(const Image& a, std::string_view metric, bool index) {
  struct Place {
    int r, c;
  };
  std::vector<Place> set;
  for (int c = 0; c < a.columns; ++c) {
    for (int r = 0; r < a.rows; ++r) {
      if (a.at(r, c) != 0) set.push_back({r, c});
    }
  }
  Image out(PixelClass::single, 0, a.rows, a.columns, 1);
  for (int r = 0; r < a.rows; ++r) {
    for (int c = 0; c < a.columns; ++c) {
      std::tuple<double, int, int, int> best{std::numeric_limits<double>::infinity(), -1, 0, 0};
      for (const Place& p : set) {
        const int down = std::abs(p.r - r);
        best = std::min(best, {distance(std::abs(p.c - c), down, metric), p.c, down, p.r});
      }
      const auto [far, column, down, row] = best;
      const double number = column < 0 ? 0.0 : static_cast<double>(column) * a.rows + row + 1;
      out.at(r, c) = static_cast<float>(index ? number : far);
    }
  }
  return out;
}

Image dither(const Image& a) {
  Image out(PixelClass::logical, 1, a.rows, a.columns, 1);
  std::vector<double> w = a.values;
  for (double& v : w) v /= a.white;
  const auto add = [&](int r, int c, double error) {
    if (a.inside(r, c)) w[static_cast<size_t>(r) * a.columns + c] += error;
  };
  for (int r = 0; r < a.rows; ++r) {
    for (int c = 0; c < a.columns; ++c) {
      const double value = w[static_cast<size_t>(r) * a.columns + c];
      out.at(r, c) = value >= 0.5;
      const double e = value - out.at(r, c);
      add(r, c + 1, e * 7 / 16);
      add(r + 1, c - 1, e * 3 / 16);
      add(r + 1, c, e * 5 / 16);
      add(r + 1, c + 1, e * 1 / 16);
    }
  }
  return out;
}

Image radon(const Image& a, const std::vector<double>& degrees) {
  const int rows = a.rows, columns = a.columns;
  const double xc = (rows + 1) / 2, yc = (columns + 1) / 2;
  const int b = static_cast<int>(std::ceil(std::hypot(rows, columns) / 2 + 1));
  Image out(PixelClass::single, 0, 2 * b + 1, static_cast<int>(degrees.size()), 1);
  for (int t = 0; t < out.columns; ++t) {
    const double s = std::sin(degrees[t] * std::numbers::pi / 180);
    const double c = std::cos(degrees[t] * std::numbers::pi / 180);
    for (int i = 0; i < 2 * rows; ++i) {
      for (int j = 0; j < 2 * columns; ++j) {
        const double x = 0.75 - xc + i / 2.0, y = 0.75 - yc + j / 2.0;
        const double p = -s * x + c * y + b;
        const int k = static_cast<int>(std::floor(p));
        const double w = a.at(i / 2, j / 2) / 4;
        out.at(k, t) += (1 - (p - k)) * w;
        if (k + 1 < out.rows) out.at(k + 1, t) += (p - k) * w;
      }
    }
  }
  return out;
}

}  // namespace impipe::reference
