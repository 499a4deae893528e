// Distance transform, dithering and projections, naively.
#include "support/reference/transform.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
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

}  // namespace impipe::reference
