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

namespace {

// The response before the transform's order: index i of 0 .. n - 1 is frequency i - n / 2.
double centred_response(int i, int n, const IradonOptions& options) {
  const double f = (i - n / 2.0) / (n / 2.0);  // -1 .. 1
  if (std::abs(f) > options.scaling) return 0;
  const double at = n / 2.0 * (1 + f / options.scaling);
  double window = 1;
  const double turn = 2 * std::numbers::pi / (n - 1);
  if (options.filter == "hann") window = 0.5 - 0.5 * std::cos(turn * at);
  if (options.filter == "hamming") window = 0.54 - 0.46 * std::cos(turn * at);
  if (options.filter == "cosine") window = std::sin(std::numbers::pi * at / n);
  const double x = std::numbers::pi * std::abs(f) / options.scaling / 2;
  if (options.filter == "shepp-logan" && x != 0) window = std::sin(x) / x;
  return std::abs(f) * window;
}

// real(ifft(fft(samples, n) .* response)), as far as the samples go
std::vector<double> filtered(const std::vector<double>& samples, const IradonOptions& options) {
  if (options.filter == "none") return samples;
  const int rows = static_cast<int>(samples.size());
  int n = 2;
  while (n < 2 * rows) n *= 2;
  std::vector<double> cosine(n), sine(n), out(rows);
  for (int i = 0; i < n; ++i) {
    cosine[i] = std::cos(2 * std::numbers::pi * i / n);
    sine[i] = std::sin(2 * std::numbers::pi * i / n);
  }
  for (int k = 0; k < n; ++k) {
    double re = 0, im = 0;
    for (int i = 0; i < rows; ++i) {
      re += samples[i] * cosine[static_cast<long>(k) * i % n];
      im -= samples[i] * sine[static_cast<long>(k) * i % n];
    }
    const double response = centred_response((k + n / 2) % n, n, options) / n;
    for (int i = 0; i < rows; ++i) {
      const long at = static_cast<long>(k) * i % n;
      out[i] += response * (re * cosine[at] - im * sine[at]);
    }
  }
  return out;
}

}  // namespace

Image iradon(const Image& a, const std::vector<double>& degrees, const IradonOptions& options) {
  const int n =
      options.side > 0 ? options.side : 2 * static_cast<int>(a.rows / (2 * std::sqrt(2.0)));
  const int needed = static_cast<int>(std::ceil(n * std::sqrt(2.0))) + 1;
  const int pad = a.rows < needed ? (needed - a.rows + 1) / 2 : 0;
  const int length = a.rows + 2 * pad, centre = (n + 1) / 2;
  Image out(PixelClass::single, 0, n, n, 1);
  for (int t = 0; t < a.columns; ++t) {
    std::vector<double> column;
    for (int r = 0; r < a.rows; ++r) column.push_back(a.at(r, t));
    column = filtered(column, options);
    column.insert(column.begin(), pad, 0.0);
    column.insert(column.end(), pad + 1, 0.0);
    const double c = std::cos(degrees[t] * std::numbers::pi / 180);
    const double s = std::sin(degrees[t] * std::numbers::pi / 180);
    for (int r = 0; r < n; ++r) {
      for (int q = 0; q < n; ++q) {
        const double place = (q - centre + 1) * c + (n - 1 - r - centre) * s;
        const double u = place + length / 2;
        const int k = static_cast<int>(std::floor(u));
        // Ties are the place's own, before the middle is added.
        out.at(r, q) += options.interp == "nearest"
                            ? column.at(static_cast<int>(std::floor(place + 0.5)) + length / 2)
                            : column.at(k) * (1 - (u - k)) + column.at(k + 1) * (u - k);
      }
    }
  }
  for (double& v : out.values) v *= std::numbers::pi / (2 * a.columns);
  return out;
}

}  // namespace impipe::reference
