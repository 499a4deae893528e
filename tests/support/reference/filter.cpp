// Linear filters, edges, morphology and order statistics, naively.
#include "support/reference/filter.hpp"

#include <algorithm>
#include <limits>
#include <numbers>

#include "support/reference/point.hpp"

namespace impipe::reference {
namespace {

int wrapped(int i, int n, std::string_view rule) {
  if (rule == "replicate") return std::clamp(i, 0, n - 1);
  if (rule == "circular") return ((i % n) + n) % n;
  const int m = ((i % (2 * n)) + 2 * n) % (2 * n);
  return m < n ? m : 2 * n - 1 - m;
}

template <class F>
Image each_place(Image out, F f) {
  for (int r = 0; r < out.rows; ++r) {
    for (int c = 0; c < out.columns; ++c) {
      for (int k = 0; k < out.channels; ++k) out.at(r, c, k) = cast(out.cls, f(r, c, k));
    }
  }
  return out;
}

Matrix turned(Matrix m) {
  std::reverse(m.values.begin(), m.values.end());
  return m;
}

Matrix transposed(const Matrix& m) {
  Matrix out{m.columns, m.rows, std::vector<double>(m.values.size())};
  for (int r = 0; r < m.rows; ++r) {
    for (int c = 0; c < m.columns; ++c) out.values[c * m.rows + r] = m.values[r * m.columns + c];
  }
  return out;
}

double value(const Matrix& m, int r, int c) { return m.values[r * m.columns + c]; }

// The unrounded correlation at (r, c) with the kernel's cell (0, 0) on (r - ar, c - ac).
double correlation(const Image& a, const Matrix& kernel, int r, int c, int k, int ar, int ac,
                   Outside outside) {
  double sum = 0;
  for (int i = 0; i < kernel.rows; ++i) {
    for (int j = 0; j < kernel.columns; ++j) {
      const double weight = value(kernel, i, j);
      if (weight != 0) sum += weight * sample(a, r + i - ar, c + j - ac, k, outside);
    }
  }
  return sum;
}

// conv2(I, K, same) of one channel, in double.
std::vector<double> conv2_same(const std::vector<double>& image, int rows, int columns,
                               const Matrix& kernel, Outside outside) {
  Image a(PixelClass::single, 1, rows, columns, 1);
  a.values = image;
  std::vector<double> out;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      out.push_back(correlation(a, turned(kernel), r, c, 0, (kernel.rows - 1) / 2,
                                (kernel.columns - 1) / 2, outside));
    }
  }
  return out;
}

std::vector<double> unit(const Image& a) {
  std::vector<double> out;
  for (const double v : a.values) out.push_back(v / a.white);
  return out;
}

double mean_of(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}

Matrix method_kernel(std::string_view method) {
  if (method == "sobel") return {3, 3, {1, 2, 1, 0, 0, 0, -1, -2, -1}};
  if (method == "prewitt") return {3, 3, {1, 1, 1, 0, 0, 0, -1, -1, -1}};
  if (method == "central") return {3, 1, {0.5, 0, -0.5}};
  return {2, 1, {1, -1}};
}

Image log_edges(const Image& a, const EdgeOptions& o) {
  const int n = 2 * static_cast<int>(std::ceil(3 * o.sigma)) + 1;
  Matrix kernel{n, n, {}};
  double sum = 0;
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < n; ++c) {
      const double d = std::pow(r - n / 2, 2) + std::pow(c - n / 2, 2);
      const double g = std::exp(-d / (2 * o.sigma * o.sigma));
      sum += g;
      kernel.values.push_back((d - 2 * o.sigma * o.sigma) * g);
    }
  }
  for (double& v : kernel.values) v /= 2 * std::numbers::pi * std::pow(o.sigma, 6) * sum;
  const std::vector<double> f = conv2_same(unit(a), a.rows, a.columns, kernel, {});
  std::vector<double> size;
  for (const double v : f) size.push_back(std::fabs(v));
  const double t = o.threshold < 0 ? 0.75 * mean_of(size) : o.threshold;
  Image out(PixelClass::logical, 1, a.rows, a.columns, 1);
  const auto negative = [&](int r, int c) { return a.inside(r, c) && f[r * a.columns + c] < 0; };
  return each_place(out, [&](int r, int c, int) {
    const double v = f[r * a.columns + c];
    const bool crossing =
        negative(r - 1, c) || negative(r + 1, c) || negative(r, c - 1) || negative(r, c + 1);
    return std::fabs(v) > t && v >= 0 && crossing ? 1.0 : 0.0;
  });
}

}  // namespace

double sample(const Image& a, int r, int c, int k, Outside outside) {
  if (a.inside(r, c)) return a.at(r, c, k);
  if (outside.rule == "constant") return outside.value;
  return a.at(wrapped(r, a.rows, outside.rule), wrapped(c, a.columns, outside.rule), k);
}

Image conv2(const Image& a, const Matrix& kernel, std::string_view shape) {
  // full(r,c) = sum K(i,j) A(r-i, c-j)
  const auto full = [&](int r, int c, int k) {
    double sum = 0;
    for (int i = 0; i < kernel.rows; ++i) {
      for (int j = 0; j < kernel.columns; ++j) {
        if (a.inside(r - i, c - j) && value(kernel, i, j) != 0) {
          sum += value(kernel, i, j) * a.at(r - i, c - j, k);
        }
      }
    }
    return sum;
  };
  int rows = a.rows, columns = a.columns, r0 = kernel.rows / 2, c0 = kernel.columns / 2;
  if (shape == "full") {
    rows += kernel.rows - 1, columns += kernel.columns - 1, r0 = c0 = 0;
  } else if (shape == "valid") {
    rows -= kernel.rows - 1, columns -= kernel.columns - 1;
    r0 = kernel.rows - 1, c0 = kernel.columns - 1;
  }
  Image out(PixelClass::single, a.white, rows, columns, a.channels);
  return each_place(out, [&](int r, int c, int k) { return full(r + r0, c + c0, k); });
}

Image imfilter(const Image& a, const Matrix& kernel, Outside outside, bool conv, bool full) {
  outside.value = cast(a.cls, outside.value);
  const Matrix used = conv ? turned(kernel) : kernel;
  const int ar = full ? kernel.rows - 1 : (kernel.rows - 1) / 2;
  const int ac = full ? kernel.columns - 1 : (kernel.columns - 1) / 2;
  Image out = full ? a.sized(a.rows + kernel.rows - 1, a.columns + kernel.columns - 1) : a;
  return each_place(
      out, [&](int r, int c, int k) { return correlation(a, used, r, c, k, ar, ac, outside); });
}

Image imgradient(const Image& a, std::string_view method, bool direction) {
  Image out(PixelClass::single, direction ? 0 : a.white, a.rows, a.columns, a.channels);
  Matrix kx, ky;
  if (method == "roberts") {
    kx = {2, 2, {1, 0, 0, -1}}, ky = {2, 2, {0, 1, -1, 0}};
  } else {
    ky = method_kernel(method), kx = transposed(ky);
  }
  const auto conv = [&](const Matrix& m, int r, int c, int k) {
    return correlation(a, turned(m), r, c, k, (m.rows - 1) / 2, (m.columns - 1) / 2, {});
  };
  return each_place(out, [&](int r, int c, int k) {
    const double gx = conv(kx, r, c, k), gy = conv(ky, r, c, k);
    return direction ? std::atan2(-gy, gx) * 180 / std::numbers::pi : std::hypot(gx, gy);
  });
}

Image edge(const Image& a, const EdgeOptions& o) {
  if (o.method == "log") return log_edges(a, o);
  Image scaled(PixelClass::single, 1, a.rows, a.columns, 1);
  scaled.values = unit(a);
  const bool roberts = o.method == "roberts";
  // sum|K| times S, which for integer images is free of rounding: comparisons at ties are exact.
  const double weights = o.method == "sobel" ? 8 : o.method == "prewitt" ? 6 : 2;
  const bool exact = a.cls == PixelClass::uint8;
  const Image& from = exact ? a : scaled;
  const Matrix kernel = roberts ? Matrix{2, 2, {1, 0, 0, -1}} : method_kernel(o.method);
  const Matrix other = roberts ? Matrix{2, 2, {0, 1, -1, 0}} : transposed(kernel);
  const int anchor = roberts ? 0 : 1;
  std::vector<double> s;
  for (int r = 0; r < a.rows; ++r) {
    for (int c = 0; c < a.columns; ++c) {
      const double gh = correlation(from, kernel, r, c, 0, anchor, anchor, {"replicate"});
      const double gv = correlation(from, other, r, c, 0, anchor, anchor, {"replicate"});
      s.push_back(o.direction == "horizontal" ? gh * gh
                  : o.direction == "vertical" ? gv * gv
                                              : gh * gh + gv * gv);
    }
  }
  const double t2 = o.threshold < 0 ? (roberts ? 6 : 4) * mean_of(s)
                                    : std::pow(o.threshold * weights * (exact ? a.white : 1), 2);
  const auto cut = [&](int r, int c) {
    if (!a.inside(r, c)) return 0.0;
    const double v = s[r * a.columns + c];
    return v <= t2 ? 0.0 : v;
  };
  Image out(PixelClass::logical, 1, a.rows, a.columns, 1);
  return each_place(out, [&](int r, int c, int) {
    const double v = cut(r, c);
    if (!o.thinning) return v > t2 ? 1.0 : 0.0;
    return (v > cut(r, c - 1) && v > cut(r, c + 1)) || (v > cut(r - 1, c) && v > cut(r + 1, c))
               ? 1.0
               : 0.0;
  });
}

Matrix line_element(int length, double degrees) {
  const double deg = std::fmod(std::fmod(degrees, 90) + 90, 90);
  const double a = (deg > 45 ? 90 - deg : deg) * std::numbers::pi / 180;
  const double ray = (length - 1) / 2.0;
  const int c = static_cast<int>(std::round(ray * std::cos(a))) + 1;
  const int r = static_cast<int>(std::round(ray * std::sin(a))) + 1;
  Matrix quarter{r, c, std::vector<double>(static_cast<size_t>(r) * c)};
  for (int x = 1; x <= c; ++x) {
    const int y = r - static_cast<int>(std::trunc(std::tan(a) * (x - 0.5)));
    if (y >= 1) quarter.values[(y - 1) * c + x - 1] = 1;
  }
  // [ Z, rot180(rest) ; strip, 1, fliplr(strip) ; rest, rot180(Z) ]
  Matrix out{2 * r - 1, 2 * c - 1,
             std::vector<double>(static_cast<size_t>(2 * r - 1) * (2 * c - 1))};
  const auto set = [&](int row, int column, double v) {
    out.values[row * out.columns + column] = v;
  };
  for (int x = 0; x < c - 1; ++x) {
    set(r - 1, x, value(quarter, 0, x));
    set(r - 1, out.columns - 1 - x, value(quarter, 0, x));
    for (int y = 1; y < r; ++y) {
      set(r - 1 + y, x, value(quarter, y, x));
      set(r - 1 - y, out.columns - 1 - x, value(quarter, y, x));
    }
  }
  set(r - 1, c - 1, 1);
  const auto flipped = [](const Matrix& m, bool rows) {
    Matrix f = m;
    for (int y = 0; y < m.rows; ++y) {
      for (int x = 0; x < m.columns; ++x) {
        f.values[y * m.columns + x] =
            rows ? value(m, m.rows - 1 - y, x) : value(m, y, m.columns - 1 - x);
      }
    }
    return f;
  };
  switch (static_cast<int>(std::fmod(std::fmod(degrees, 180) + 180, 180) / 45)) {
    case 1: return transposed(out);
    case 2: return flipped(transposed(out), true);
    case 3: return flipped(out, false);
    default: return out;
  }
}

Image imdilate(const Image& a, const Matrix& e) {
  return each_place(a, [&](int r, int c, int k) {
    double best = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < e.rows; ++i) {
      for (int j = 0; j < e.columns; ++j) {
        const int y = r - (i - (e.rows - 1) / 2), x = c - (j - (e.columns - 1) / 2);
        if (value(e, i, j) != 0 && a.inside(y, x) && a.at(y, x, k) > best) best = a.at(y, x, k);
      }
    }
    return a.cls == PixelClass::logical ? std::max(best, 0.0) : best;
  });
}

Image imerode(const Image& a, const Matrix& e) {
  return each_place(a, [&](int r, int c, int k) {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < e.rows; ++i) {
      for (int j = 0; j < e.columns; ++j) {
        const int y = r + i - (e.rows - 1) / 2, x = c + j - (e.columns - 1) / 2;
        if (value(e, i, j) != 0 && a.inside(y, x) && a.at(y, x, k) < best) best = a.at(y, x, k);
      }
    }
    return best;
  });
}

Image difference(const Image& x, const Image& y) {
  Image out = x;
  for (size_t i = 0; i < x.values.size(); ++i) {
    out.values[i] = x.cls == PixelClass::logical ? (x.values[i] != 0 && y.values[i] == 0 ? 1 : 0)
                                                 : cast(x.cls, x.values[i] - y.values[i]);
  }
  return out;
}

namespace {

std::vector<double> sorted_window(const Image& a, const Matrix& domain, int r, int c, int k,
                                  Outside outside) {
  std::vector<double> v;
  for (int i = 0; i < domain.rows; ++i) {
    for (int j = 0; j < domain.columns; ++j) {
      if (value(domain, i, j) == 0) continue;
      v.push_back(
          sample(a, r + i - (domain.rows - 1) / 2, c + j - (domain.columns - 1) / 2, k, outside));
    }
  }
  std::sort(v.begin(), v.end());
  return v;
}

}  // namespace

Image ordfilt2(const Image& a, int nth, const Matrix& domain, Outside outside) {
  outside.value = cast(a.cls, outside.value);
  return each_place(a, [&](int r, int c, int k) {
    const auto v = sorted_window(a, domain, r, c, k, outside);
    return v[std::min<size_t>(nth, v.size()) - 1];
  });
}

Image medfilt2(const Image& a, int rows, int columns, Outside outside) {
  outside.value = cast(a.cls, outside.value);
  const Matrix domain{rows, columns, std::vector<double>(static_cast<size_t>(rows) * columns, 1.0)};
  return each_place(a, [&](int r, int c, int k) {
    const auto v = sorted_window(a, domain, r, c, k, outside);
    const size_t n = v.size();
    if (n % 2 == 1) return v[n / 2];
    // Rounded half away from zero by the cast; a logical mean of 0 and 1 is 0.5, so 1.
    return (v[n / 2 - 1] + v[n / 2]) / 2;
  });
}

double mean2(const Image& a, int channel) {
  double sum = 0, count = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    if (channel < 0 || static_cast<int>(i % a.channels) == channel) sum += a.values[i], ++count;
  }
  return sum / count;
}

double std2(const Image& a, int channel) {
  const double mean = mean2(a, channel);
  double sum = 0, count = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    if (channel >= 0 && static_cast<int>(i % a.channels) != channel) continue;
    sum += std::pow(a.values[i] - mean, 2);
    ++count;
  }
  return count > 1 ? std::sqrt(sum / (count - 1)) : 0;
}

std::vector<double> imhist(const Image& a, int channel, int bins) {
  std::vector<double> h(bins);
  for (size_t i = channel; i < a.values.size(); i += a.channels) {
    if (std::isnan(a.values[i])) continue;
    const double v = std::clamp(a.values[i], 0.0, a.white);
    ++h[static_cast<size_t>(std::floor(v * (bins - 1) / a.white + 0.5))];
  }
  return h;
}

}  // namespace impipe::reference
