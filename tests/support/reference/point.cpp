// Point operators, class conversion and geometry, naively.
#include "support/reference/point.hpp"

#include <algorithm>
#include <limits>

namespace impipe::reference {
namespace {

template <class F>
Image each(const Image& a, PixelClass cls, double white, F f) {
  Image out(cls, white, a.rows, a.columns, a.channels);
  for (size_t i = 0; i < a.values.size(); ++i) out.values[i] = cast(cls, f(a.values[i]));
  return out;
}

template <class F>
Image moved(const Image& a, int rows, int columns, F from) {
  Image out = a.sized(rows, columns);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const auto [fr, fc] = from(r, c);
      for (int k = 0; k < a.channels; ++k) out.at(r, c, k) = a.at(fr, fc, k);
    }
  }
  return out;
}

int largest_code(PixelClass cls) { return cls == PixelClass::uint16 ? 65535 : 255; }

}  // namespace

std::pair<double, double> stretchlim(const Image& a, int channel, double tol1, double tol2) {
  std::vector<double> s;
  for (size_t i = channel; i < a.values.size(); i += a.channels) s.push_back(a.values[i]);
  std::sort(s.begin(), s.end());
  const double n = static_cast<double>(s.size());
  const auto low = static_cast<size_t>(std::min(std::floor(tol1 * n), n - 1));
  const auto high = static_cast<size_t>(std::max(std::ceil(tol2 * n) - 1, 0.0));
  const double lo = std::clamp(s[low] / a.white, 0.0, 1.0);
  const double hi = std::clamp(s[high] / a.white, 0.0, 1.0);
  if (lo == hi) return {0, 1};
  return {lo, hi};
}

Image imadjust(const Image& a, const std::vector<std::pair<double, double>>& in, double lo,
               double ho, double gamma) {
  Image out = a;
  for (size_t i = 0; i < a.values.size(); ++i) {
    auto [li, hi] = in[i % a.channels % in.size()];
    if (a.cls == PixelClass::single) {  // elementwise in the class of the image
      li = static_cast<float>(li);
      hi = static_cast<float>(hi);
    }
    const double v = std::clamp(a.values[i] / a.white, li, hi);
    const double y = li == hi ? (a.values[i] / a.white > li ? ho : lo)
                              : lo + (ho - lo) * std::pow((v - li) / (hi - li), gamma);
    out.values[i] = cast(a.cls, y * a.white);
  }
  return out;
}

Image intlut(const Image& a, const Image& table) {
  return each(a, a.cls, a.white, [&](double x) { return table.values[static_cast<size_t>(x)]; });
}

Image imlincomb(const std::vector<double>& k, const std::vector<Image>& images, double add,
                PixelClass cls) {
  Image out = images[0];
  out.cls = cls;
  for (size_t i = 0; i < out.values.size(); ++i) {
    double sum = 0;
    for (size_t m = 0; m < k.size(); ++m) sum += k[m] * images[m].values[i];
    out.values[i] = cast(cls, sum + add);
  }
  return out;
}

Image im2bw(const Image& a, double level) {
  if (a.cls == PixelClass::logical) return a;
  const double t = a.cls == PixelClass::single ? static_cast<float>(level * a.white)
                                               : std::floor(level * a.white);
  return each(a, PixelClass::logical, 1, [&](double x) { return x > t ? 1.0 : 0.0; });
}

Otsu graythresh(const Image& a) {
  const Image codes = a.cls == PixelClass::single ? convert(a, PixelClass::uint8) : a;
  const int n = largest_code(codes.cls) + 1;
  std::vector<double> h(n);
  for (const double v : codes.values) ++h[static_cast<size_t>(v)];
  const double total = static_cast<double>(codes.values.size());
  std::vector<double> s(n, -1.0);
  double best = -1;
  double moment = 0;
  for (int i = 0; i < n; ++i) moment += i * h[i];
  double b = 0, sb = 0;  // of the bins below t; integers, so exact
  for (int t = 1; t < n; ++t) {
    b += h[t - 1];
    sb += (t - 1) * h[t - 1];
    const double w = total - b;
    if (b == 0 || w == 0) continue;
    s[t] = (b / total) * (w / total) * std::pow(sb / b - (moment - sb) / w, 2);
    best = std::max(best, s[t]);
  }
  double sum = 0, count = 0;
  for (int t = 1; t < n && best >= 0; ++t) {
    if (s[t] == best) sum += t - 1, ++count;
  }
  const double code = count > 0 ? sum / count : 0;
  return {code, code / (n - 1)};
}

Image imcomplement(const Image& a) {
  return each(a, a.cls, a.white, [&](double x) { return a.white - x; });
}

Image rgb2gray(const Image& a) {
  if (a.channels == 1) return a;
  Image out(a.cls, a.white, a.rows, a.columns, 1);
  for (size_t i = 0; i < out.values.size(); ++i) {
    const double* p = &a.values[3 * i];
    out.values[i] = cast(a.cls, (0.298936 * (p[0] / a.white) + 0.587043 * (p[1] / a.white) +
                                 0.114021 * (p[2] / a.white)) *
                                    a.white);
  }
  return out;
}

Image convert(const Image& a, PixelClass cls) {
  const double white = cls == PixelClass::uint8 ? 255 : cls == PixelClass::uint16 ? 65535 : 1;
  const bool product_in_float = a.cls == PixelClass::single && cls != PixelClass::single;
  return each(a, cls, white, [&](double x) {
    if (cls == PixelClass::single) return x / a.white;
    if (product_in_float) {
      return static_cast<double>(static_cast<float>(x) * static_cast<float>(white / a.white));
    }
    return x * white / a.white;
  });
}

Image mat2gray(const Image& a, std::optional<std::pair<double, double>> limits) {
  if (!limits) {
    limits = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    for (const double v : a.values) {
      if (v < limits->first) limits->first = v;
      if (v > limits->second) limits->second = v;
    }
  }
  const auto [low, high] = *limits;
  return each(a, PixelClass::single, 1, [&](double x) {
    return std::clamp(high > low ? (x - low) / (high - low) : x, 0.0, 1.0);
  });
}

Image transpose(const Image& a) {
  return moved(a, a.columns, a.rows, [](int r, int c) { return std::pair(c, r); });
}
Image fliplr(const Image& a) {
  return moved(a, a.rows, a.columns, [&](int r, int c) { return std::pair(r, a.columns - 1 - c); });
}
Image flipud(const Image& a) {
  return moved(a, a.rows, a.columns, [&](int r, int c) { return std::pair(a.rows - 1 - r, c); });
}
Image rot90(const Image& a, int k) {
  Image out = a;
  for (int i = 0; i < ((k % 4) + 4) % 4; ++i) {
    const Image before = out;
    out = moved(before, before.columns, before.rows,
                [&](int r, int c) { return std::pair(c, before.columns - 1 - r); });
  }
  return out;
}

}  // namespace impipe::reference
