// Connected sets and canny's edges, naively.
#include "support/reference/label.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numbers>

namespace impipe::reference {
namespace {

struct Place {
  int r, c;
};

std::vector<Place> neighbours(const Image& a, Place p, int conn) {
  std::vector<Place> out;
  for (int dr = -1; dr <= 1; ++dr) {
    for (int dc = -1; dc <= 1; ++dc) {
      if ((dr == 0 && dc == 0) || (conn == 4 && dr != 0 && dc != 0)) continue;
      if (a.inside(p.r + dr, p.c + dc)) out.push_back({p.r + dr, p.c + dc});
    }
  }
  return out;
}

// The pixels connected with p whose values are p's, and whether `others` holds for all around them.
struct Flood {
  std::vector<Place> pixels;
  bool borders_hold = true;
};
template <class Holds>
Flood flood(const Image& a, Place p, int conn, Image& visited, const Holds& others) {
  Flood found;
  found.pixels.push_back(p);
  visited.at(p.r, p.c) = 1;
  for (size_t i = 0; i < found.pixels.size(); ++i) {
    const Place here = found.pixels[i];
    for (const Place& n : neighbours(a, here, conn)) {
      if (a.at(n.r, n.c) != a.at(p.r, p.c)) {
        found.borders_hold &= others(a.at(n.r, n.c), a.at(p.r, p.c));
      } else if (visited.at(n.r, n.c) == 0) {
        visited.at(n.r, n.c) = 1;
        found.pixels.push_back(n);
      }
    }
  }
  return found;
}

Image ones_of(const Image& a) {
  Image out(PixelClass::logical, 1, a.rows, a.columns, 1);
  for (size_t i = 0; i < a.values.size(); ++i) out.values[i] = a.values[i] != 0;
  return out;
}

// All components in the order of their first pixels down the columns.
std::vector<std::vector<Place>> components(const Image& a, int conn) {
  std::vector<std::vector<Place>> out;
  const Image set = ones_of(a);
  Image visited = set.sized(a.rows, a.columns);
  for (int c = 0; c < a.columns; ++c) {
    for (int r = 0; r < a.rows; ++r) {
      if (set.at(r, c) == 0 || visited.at(r, c) != 0) continue;
      out.push_back(flood(set, {r, c}, conn, visited, [](double, double) { return true; }).pixels);
    }
  }
  return out;
}

}  // namespace

Image bwlabel(const Image& a, int conn) {
  Image out(PixelClass::single, 0, a.rows, a.columns, 1);
  double number = 0;
  for (const std::vector<Place>& component : components(a, conn)) {
    ++number;
    for (const Place& p : component) out.at(p.r, p.c) = number;
  }
  return out;
}

Image bwareaopen(const Image& a, double least, int conn) {
  Image out(PixelClass::logical, 1, a.rows, a.columns, 1);
  for (const std::vector<Place>& component : components(a, conn)) {
    if (static_cast<double>(component.size()) < least) continue;
    for (const Place& p : component) out.at(p.r, p.c) = 1;
  }
  return out;
}

Image imreconstruct(const Image& marker, const Image& mask, int conn) {
  Image out = marker;
  for (size_t i = 0; i < out.values.size(); ++i) {
    out.values[i] = std::min(marker.values[i], mask.values[i]);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (int r = 0; r < out.rows; ++r) {
      for (int c = 0; c < out.columns; ++c) {
        double most = out.at(r, c);
        for (const Place& n : neighbours(out, {r, c}, conn))
          most = std::max(most, out.at(n.r, n.c));
        most = std::min(most, mask.at(r, c));
        changed |= most > out.at(r, c);
        out.at(r, c) = most;
      }
    }
  }
  return out;
}

namespace {

Image logical_fill(const Image& a, int conn) {
  Image background = a, out = a;
  for (double& v : background.values) v = v == 0;
  for (const std::vector<Place>& component : components(background, conn)) {
    const bool outside = std::any_of(component.begin(), component.end(), [&](const Place& p) {
      return p.r == 0 || p.c == 0 || p.r == a.rows - 1 || p.c == a.columns - 1;
    });
    for (const Place& p : component) out.at(p.r, p.c) = !outside;
  }
  return out;
}

}  // namespace

Image imfill(const Image& a, int conn) {
  if (a.cls == PixelClass::logical) return logical_fill(a, conn);
  Image mask = a, marker = a;
  for (double& v : mask.values) v = -v;
  for (int r = 0; r < a.rows; ++r) {
    for (int c = 0; c < a.columns; ++c) {
      const bool border = r == 0 || c == 0 || r == a.rows - 1 || c == a.columns - 1;
      marker.at(r, c) = border ? mask.at(r, c) : -std::numeric_limits<double>::infinity();
    }
  }
  Image out = imreconstruct(marker, mask, conn);
  for (double& v : out.values) v = 0 - v;
  return out;
}

Image imregional(const Image& a, bool largest, int conn) {
  Image out(PixelClass::logical, 1, a.rows, a.columns, 1);
  Image visited = out;
  for (int r = 0; r < a.rows; ++r) {
    for (int c = 0; c < a.columns; ++c) {
      if (visited.at(r, c) != 0) continue;
      const Flood plateau = flood(a, {r, c}, conn, visited, [&](double around, double own) {
        return largest ? around < own : around > own;
      });
      for (const Place& p : plateau.pixels) out.at(p.r, p.c) = plateau.borders_hold;
    }
  }
  return out;
}

Image imregional_strict(const Image& a, bool largest, int conn) {
  Image out(PixelClass::logical, 1, a.rows, a.columns, 1);
  for (int r = 0; r < a.rows; ++r) {
    for (int c = 0; c < a.columns; ++c) {
      bool holds = true;
      for (const Place& n : neighbours(a, {r, c}, conn)) {
        holds &= largest ? a.at(n.r, n.c) < a.at(r, c) : a.at(n.r, n.c) > a.at(r, c);
      }
      out.at(r, c) = holds;
    }
  }
  return out;
}

namespace {

double clamped(const Image& a, int r, int c) {
  return a.at(std::clamp(r, 0, a.rows - 1), std::clamp(c, 0, a.columns - 1));
}

// Correlation of rows (or columns) with an even kernel, edge pixels repeated.
Image smoothed(const Image& a, const std::vector<double>& kernel, bool rows) {
  Image out = a;
  const int n = static_cast<int>(kernel.size()), anchor = (n - 1) / 2;
  for (int r = 0; r < a.rows; ++r) {
    for (int c = 0; c < a.columns; ++c) {
      double sum = 0;
      for (int k = 0; k < n; ++k) {
        sum += kernel[k] * (rows ? clamped(a, r, c + k - anchor) : clamped(a, r + k - anchor, c));
      }
      out.at(r, c) = sum;
    }
  }
  return out;
}

}  // namespace

Image canny(const Image& a, const std::vector<double>& thresholds, double sigma) {
  const double pi = std::numbers::pi;
  const int n = 8 * static_cast<int>(std::ceil(sigma));
  std::vector<double> kernel;
  double total = 0;
  for (int k = 0; k < n; ++k) {
    const double x = k - (n - 1) / 2.0;
    kernel.push_back(std::exp(-x * x / (2 * sigma * sigma)));
    total += kernel.back();
  }
  for (double& k : kernel) k /= total;
  Image j = a;
  for (double& v : j.values) v /= a.white;
  j = smoothed(smoothed(j, kernel, true), kernel, false);
  Image e = j, direction = j;
  double most = 0;
  for (int r = 0; r < a.rows; ++r) {
    for (int c = 0; c < a.columns; ++c) {
      const double jx = (clamped(j, r, c - 1) - clamped(j, r, c + 1)) / 2;
      const double jy = (clamped(j, r - 1, c) - clamped(j, r + 1, c)) / 2;
      e.at(r, c) = std::sqrt(jx * jx + jy * jy);
      most = std::max(most, e.at(r, c));
      const double turn = std::atan2(jy, jx) - pi;
      const double o = pi - (turn - std::floor(turn / pi) * pi);
      double nearest = 100;
      for (int d = 0; d < 4; ++d) {
        double td = o - d * pi / 4;
        if (td > pi / 2) td -= pi;
        if (std::abs(td) < nearest) {
          nearest = std::abs(td);
          direction.at(r, c) = d;
        }
      }
    }
  }
  double mean = 0;
  for (double& v : e.values) {
    if (most > 0) v /= most;
    mean += v / static_cast<double>(e.values.size());
  }
  const double high = thresholds.empty() ? mean : thresholds.back();
  const double low = thresholds.size() > 1 ? thresholds.front() : 0.4 * high;
  // Where a ridge in direction 0, 45, 90, 135 degrees is higher, and where edges go on from it.
  constexpr Place across[] = {{0, 1}, {-1, 1}, {1, 0}, {1, 1}};
  constexpr Place along[] = {{1, 0}, {1, 1}, {0, 1}, {-1, 1}};
  Image m = e;
  for (double& v : m.values) v = 0;
  for (int r = 1; r + 1 < a.rows; ++r) {
    for (int c = 1; c + 1 < a.columns; ++c) {
      const Place d = across[static_cast<int>(direction.at(r, c))];
      const double v = e.at(r, c);
      if (v > e.at(r + d.r, c + d.c) && v > e.at(r - d.r, c - d.c)) m.at(r, c) = v;
    }
  }
  Image out(PixelClass::logical, 1, a.rows, a.columns, 1);
  std::vector<Place> open;
  for (int r = 0; r < a.rows; ++r) {
    for (int c = 0; c < a.columns; ++c) {
      if (m.at(r, c) > high) open.push_back({r, c});
    }
  }
  for (const Place& p : open) out.at(p.r, p.c) = 1;
  while (!open.empty()) {
    const Place p = open.back();
    open.pop_back();
    const Place d = along[static_cast<int>(direction.at(p.r, p.c))];
    for (const int sign : {-1, 1}) {
      const Place q{p.r + sign * d.r, p.c + sign * d.c};
      if (!m.inside(q.r, q.c) || out.at(q.r, q.c) != 0 || !(m.at(q.r, q.c) > low)) continue;
      out.at(q.r, q.c) = 1;
      open.push_back(q);
    }
  }
  return out;
}

}  // namespace impipe::reference
