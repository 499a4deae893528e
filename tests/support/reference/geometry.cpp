// Windows, resampling, equalisation and joint histograms, naively.
#include "support/reference/geometry.hpp"

#include <algorithm>
#include <limits>

namespace impipe::reference {
namespace {

int mirrored(int i, int n) {
  const int m = ((i % (2 * n)) + 2 * n) % (2 * n);
  return m < n ? m : 2 * n - 1 - m;
}

// A logical result is set from a half on.
double to_class(PixelClass cls, double v) {
  return cls == PixelClass::logical ? (v >= 0.5 ? 1 : 0) : cast(cls, v);
}

double kernel(std::string_view method, double h) {
  h = std::fabs(h);
  if (method == "bilinear") return h < 1 ? 1 - h : 0;
  if (h <= 1) return 1.5 * h * h * h - 2.5 * h * h + 1;
  return h < 2 ? -0.5 * h * h * h + 2.5 * h * h - 4 * h + 2 : 0;
}

struct Tap {
  int place;
  double weight;
};

// Of output k (from 0) along a direction of n pixels.
std::vector<Tap> taps(int k, int n, double scale, std::string_view method, bool antialias) {
  const double z = 0.5 + 0.5 / scale + k / scale;
  if (scale == 1) return {{k, 1}};
  if (method == "nearest") return {{std::clamp(static_cast<int>(std::round(z)), 1, n) - 1, 1}};
  const double narrow = antialias && scale < 1 ? scale : 1;
  const int p = static_cast<int>(std::ceil((method == "bicubic" ? 4 : 2) / narrow / 2));
  const int i0 = static_cast<int>(std::floor(z));
  std::vector<Tap> out;
  for (int j = 1 - p; j <= p; ++j) {
    out.push_back({mirrored(i0 + j - 1, n), narrow * kernel(method, narrow * (j - (z - i0)))});
  }
  return out;
}

}  // namespace

Image crop(const Image& a, int left, int top, int width, int height) {
  const int r0 = std::max(top, 0), r1 = std::min(top + height, a.rows);
  const int c0 = std::max(left, 0), c1 = std::min(left + width, a.columns);
  Image out = a.sized(r1 - r0, c1 - c0);
  for (int r = r0; r < r1; ++r) {
    for (int c = c0; c < c1; ++c) {
      for (int k = 0; k < a.channels; ++k) out.at(r - r0, c - c0, k) = a.at(r, c, k);
    }
  }
  return out;
}

Image pad(const Image& a, int top, int bottom, int left, int right, std::string_view boundary,
          double value) {
  Image out = a.sized(a.rows + top + bottom, a.columns + left + right);
  const auto from = [&](int i, int n) {
    if (boundary == "replicate") return std::clamp(i, 0, n - 1);
    if (boundary == "reflect") {  // there and back along the image, turning on its end pixels
      int at = 0, step = 1;
      for (int k = 0; k < std::abs(i) && n > 1; ++k) {
        if (at + step < 0 || at + step == n) step = -step;
        at += step;
      }
      return at;
    }
    return boundary == "symmetric" ? mirrored(i, n) : ((i % n) + n) % n;
  };
  for (int r = 0; r < out.rows; ++r) {
    for (int c = 0; c < out.columns; ++c) {
      for (int k = 0; k < a.channels; ++k) {
        const bool outside = boundary.empty() && !a.inside(r - top, c - left);
        out.at(r, c, k) = outside ? cast(a.cls, value)
                                  : a.at(from(r - top, a.rows), from(c - left, a.columns), k);
      }
    }
  }
  return out;
}

Image resize(const Image& a, int rows, int columns, double scale_rows, double scale_columns,
             std::string_view method, bool antialias) {
  Image down = a.sized(rows, a.columns);
  for (int r = 0; r < rows; ++r) {
    for (const Tap& tap : taps(r, a.rows, scale_rows, method, antialias)) {
      for (int c = 0; c < a.columns; ++c) {
        for (int k = 0; k < a.channels; ++k) down.at(r, c, k) += tap.weight * a.at(tap.place, c, k);
      }
    }
  }
  Image out = a.sized(rows, columns);
  for (int c = 0; c < columns; ++c) {
    const std::vector<Tap> along = taps(c, a.columns, scale_columns, method, antialias);
    for (int r = 0; r < rows; ++r) {
      for (int k = 0; k < a.channels; ++k) {
        double sum = 0;
        for (const Tap& tap : along) sum += tap.weight * down.at(r, tap.place, k);
        out.at(r, c, k) = to_class(a.cls, sum);
      }
    }
  }
  return out;
}

Image warp(const Image& a, int rows, int columns, const std::vector<double>& m, bool nearest,
           double fill) {
  Image out = a.sized(rows, columns);
  const auto value = [&](double r, double c, int k) {
    const bool inside = r >= 0 && r < a.rows && c >= 0 && c < a.columns;
    return inside ? a.at(static_cast<int>(r), static_cast<int>(c), k) : cast(a.cls, fill);
  };
  for (int v = 0; v < rows; ++v) {
    for (int u = 0; u < columns; ++u) {
      const double x = m[0] * u + m[1] * v + m[2], y = m[3] * u + m[4] * v + m[5];
      for (int k = 0; k < a.channels; ++k) {
        if (nearest) {
          out.at(v, u, k) = value(std::floor(y + 0.5), std::floor(x + 0.5), k);
          continue;
        }
        const double left = std::floor(x), top = std::floor(y), s = x - left, t = y - top;
        out.at(v, u, k) = to_class(
            a.cls, (1 - t) * ((1 - s) * value(top, left, k) + s * value(top, left + 1, k)) +
                       t * ((1 - s) * value(top + 1, left, k) + s * value(top + 1, left + 1, k)));
      }
    }
  }
  return out;
}

Image histeq(const Image& a, int bins) {
  Image out(PixelClass::single, 1, a.rows, a.columns, a.channels);
  const double last = bins - 1;
  for (int k = 0; k < a.channels; ++k) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (int r = 0; r < a.rows; ++r) {
      for (int c = 0; c < a.columns; ++c) {
        low = std::min(low, a.at(r, c, k));
        high = std::max(high, a.at(r, c, k));
      }
    }
    const auto scaled = [&](double v) {
      return high > low ? 1 / (high - low) * (v - low) : std::clamp(v, 0.0, 1.0);
    };
    // The levels, from both ends, and the edges half a bin below them.
    std::vector<double> edges(bins), counts(bins);
    for (int i = 0; i < bins; ++i) {
      edges[i] = (2 * i <= bins - 1 ? i * (1 / last) : 1 - (last - i) * (1 / last)) - 1 / last / 2;
    }
    for (int r = 0; r < a.rows; ++r) {
      for (int c = 0; c < a.columns; ++c) {
        int bin = 0;
        while (bin + 1 < bins && edges[bin + 1] <= scaled(a.at(r, c, k))) ++bin;
        ++counts[bin];
      }
    }
    for (int i = 1; i < bins; ++i) counts[i] += counts[i - 1];
    for (int r = 0; r < a.rows; ++r) {
      for (int c = 0; c < a.columns; ++c) {
        const int q = static_cast<int>(std::floor(scaled(a.at(r, c, k)) * last + 0.5));
        out.at(r, c, k) = static_cast<float>(counts[q] / (static_cast<double>(a.rows) * a.columns));
      }
    }
  }
  return out;
}

std::vector<double> jointhist(const Image& a, const Image& b, int bins) {
  std::vector<double> out(static_cast<size_t>(a.channels) * bins * bins);
  const auto bin = [&](const Image& image, double v) {
    return static_cast<size_t>(std::floor(v * bins / (class_max(image.cls) + 1)));
  };
  for (size_t i = 0; i < a.values.size(); ++i) {
    const size_t k = i % static_cast<size_t>(a.channels);
    ++out[(k * bins + bin(a, a.values[i])) * bins + bin(b, b.values[i])];
  }
  return out;
}

}  // namespace impipe::reference
