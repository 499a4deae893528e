// The kernels of fspecial. Formulas: Octave's image package 2.14, reproduced to 1e-12.
#include "ops/filter/fspecial.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/functions.hpp"

namespace impipe::ops {
namespace {

constexpr double pi = std::numbers::pi;

double sum(const Matrix& m) { return std::accumulate(m.values.begin(), m.values.end(), 0.0); }

void divide(Matrix& m, double by) {
  for (double& v : m.values) v /= by;
}

// exp(-(x^2 + y^2) / (2 sigma^2)) about the centre of the matrix.
Matrix bell(int rows, int columns, double sigma) {
  Matrix m{rows, columns, {}};
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const double y = r - (rows - 1) / 2.0, x = c - (columns - 1) / 2.0;
      m.values.push_back(functions::exp_double(-(x * x + y * y) / (2 * sigma * sigma)));
    }
  }
  return m;
}

// The area that a disk about the origin shares with [x0, x1] x [y0, y1], all >= 0.
double quadrant_overlap(double x0, double x1, double y0, double y1, double radius) {
  const auto where = [&](double y) {  // the circle's x at this height
    return y >= radius ? 0.0 : std::sqrt(radius * radius - y * y);
  };
  const auto integral = [&](double x) {  // of the circle's height, from 0 to x
    const double t = std::min(x / radius, 1.0);
    return radius * radius * (t * std::sqrt(1 - t * t) + std::asin(t)) / 2;
  };
  const double flat_end = std::clamp(where(y1), x0, x1);
  const double round_end = std::clamp(where(y0), x0, x1);
  const double flat = (flat_end - x0) * (y1 - y0);
  const double round = integral(round_end) - integral(flat_end) - (round_end - flat_end) * y0;
  return flat + std::max(round, 0.0);
}

// The area that the unit pixel about (x, y) shares with the disk.
double pixel_overlap(int x, int y, double radius) {
  const double ax = std::abs(x), ay = std::abs(y);
  const double x0 = std::max(ax - 0.5, 0.0), y0 = std::max(ay - 0.5, 0.0);
  // A pixel on an axis is two equal halves.
  const double halves = (x == 0 ? 2 : 1) * (y == 0 ? 2 : 1);
  return halves * quadrant_overlap(x0, ax + 0.5, y0, ay + 0.5, radius);
}

// Counter-clockwise by 90 degrees.
Matrix quarter_turn(const Matrix& m) {
  Matrix out{m.columns, m.rows, std::vector<double>(m.values.size())};
  for (int r = 0; r < out.rows; ++r) {
    for (int c = 0; c < out.columns; ++c) {
      out.values[r * out.columns + c] = m.values[c * m.columns + (m.columns - 1 - r)];
    }
  }
  return out;
}

// A square matrix at a 1-based place between its elements; 0 outside.
double bilinear(const Matrix& m, double x, double y) {
  const int n = m.columns;
  if (!(x >= 1 && x <= n && y >= 1 && y <= n)) return 0;
  const int c = std::min(static_cast<int>(x), n - 1), r = std::min(static_cast<int>(y), n - 1);
  const double fx = x - c, fy = y - r;
  const auto at = [&](int row, int column) { return m.values[(row - 1) * n + column - 1]; };
  return (1 - fy) * ((1 - fx) * at(r, c) + fx * at(r, c + 1)) +
         fy * ((1 - fx) * at(r + 1, c) + fx * at(r + 1, c + 1));
}

struct Range {
  double low = 0, high = 0;
};

// Rotated counter-clockwise, the result large enough for all of it ("loose").
Matrix rotated(const Matrix& m, double degrees) {
  const double n = m.columns;
  const double t = std::fmod(std::fmod(degrees, 360) + 360, 360) * pi / 180;
  const double cos_t = std::cos(t), sin_t = std::sin(t);
  const auto extent = [&](double a, double b, double from, double to) {
    const double corners[] = {a * from + b * from, a * to + b * from, a * to + b * to,
                              a * from + b * to};
    return Range{*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
  };
  const Range wide = extent(cos_t, sin_t, 0, n - 1), tall = extent(-sin_t, cos_t, 0, n - 1);
  const double centre = (n + 1) / 2;
  const double columns = std::round(wide.high - wide.low) + 1;
  const double rows = std::round(tall.high - tall.low) + 1;
  const double shift_x = (columns + 1) / 2 - (cos_t * centre + sin_t * centre);
  const double shift_y = (rows + 1) / 2 - (-sin_t * centre + cos_t * centre);
  const Range x = extent(cos_t, sin_t, 1, n), y = extent(-sin_t, cos_t, 1, n);
  const int first_x = static_cast<int>(std::round(x.low + shift_x));
  const int last_x = static_cast<int>(std::round(x.high + shift_x));
  const int first_y = static_cast<int>(std::round(y.low + shift_y));
  const int last_y = static_cast<int>(std::round(y.high + shift_y));
  Matrix out{last_y - first_y + 1, last_x - first_x + 1, {}};
  for (int r = first_y; r <= last_y; ++r) {
    for (int c = first_x; c <= last_x; ++c) {
      const double dx = c - shift_x, dy = r - shift_y;
      out.values.push_back(bilinear(m, cos_t * dx - sin_t * dy, sin_t * dx + cos_t * dy));
    }
  }
  return out;
}

}  // namespace

Matrix average_kernel(int rows, int columns) {
  return {rows, columns,
          std::vector<double>(static_cast<std::size_t>(rows) * columns,
                              1 / (static_cast<double>(rows) * columns))};
}

Matrix gaussian_kernel(int rows, int columns, double sigma) {
  Matrix m = bell(rows, columns, sigma);
  divide(m, sum(m));
  return m;
}

bool has_weights(const Matrix& kernel) {
  return std::all_of(kernel.values.begin(), kernel.values.end(),
                     [](double weight) { return std::isfinite(weight); });
}

Matrix laplacian_kernel(double alpha) {
  const double corner = alpha / (alpha + 1), side = (1 - alpha) / (alpha + 1);
  return {3, 3, {corner, side, corner, side, -4 / (alpha + 1), side, corner, side, corner}};
}

Matrix unsharp_kernel(double alpha) {
  const double corner = -alpha / (alpha + 1), side = (alpha - 1) / (alpha + 1);
  return {
      3, 3, {corner, side, corner, side, (alpha + 5) / (alpha + 1), side, corner, side, corner}};
}

Matrix sobel_kernel() { return {3, 3, {1, 2, 1, 0, 0, 0, -1, -2, -1}}; }

Matrix prewitt_kernel() { return {3, 3, {1, 1, 1, 0, 0, 0, -1, -1, -1}}; }

Matrix log_kernel(int rows, int columns, double sigma) {
  Matrix m = bell(rows, columns, sigma);
  const double scale = 2 * pi * functions::pow_double(sigma, 6) * sum(m);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const double y = r - (rows - 1) / 2.0, x = c - (columns - 1) / 2.0;
      m.values[r * columns + c] *= (x * x + y * y - 2 * sigma * sigma) / scale;
    }
  }
  return m;
}

Matrix disk_kernel(int radius) {
  if (radius == 0) return {1, 1, {1}};
  const int side = 2 * radius + 1;
  Matrix m{side, side, {}};
  for (int y = -radius; y <= radius; ++y) {
    for (int x = -radius; x <= radius; ++x) {
      m.values.push_back(pixel_overlap(x, y, radius) / (pi * radius * radius));
    }
  }
  return m;
}

Matrix motion_kernel(int length, double degrees) {
  const int n = length % 2 == 1 ? length : length + 1;
  Matrix m{n, n, std::vector<double>(static_cast<std::size_t>(n) * n, 0.0)};
  std::fill_n(m.values.begin() + length / 2 * n, length, 1.0);
  if (n == 1) return {1, 1, {1}};
  if (std::fmod(degrees, 90) == 0) {
    const int turns = static_cast<int>(std::fmod(std::fmod(degrees, 360) + 360, 360) / 90);
    for (int i = 0; i < turns; ++i) m = quarter_turn(m);
  } else {
    m = rotated(m, degrees);
  }
  divide(m, sum(m));
  return m;
}

const std::vector<std::string_view>& kernel_types() {
  static const std::vector<std::string_view> types{
      "average", "disk", "gaussian", "laplacian", "log", "motion", "prewitt", "sobel", "unsharp"};
  return types;
}

}  // namespace impipe::ops
