// Rectangles of an image, and what lies under them in the image that a node reads.
#include "core/region.hpp"

#include <algorithm>
#include <variant>

#include "core/placement.hpp"

namespace impipe {
namespace {

struct Interval {
  std::int64_t from = 0, to = 0;
};

Interval inside(Interval wanted, std::int64_t n, Border border) {
  const Interval direct{std::clamp<std::int64_t>(wanted.from, 0, n),
                        std::clamp<std::int64_t>(wanted.to, 0, n)};
  if (wanted.from >= 0 && wanted.to <= n) return direct;
  if (border == Border::constant || border == Border::absent) return direct;
  // A whole period lies outside: everything may be read.
  if (wanted.to - wanted.from >= 2 * n) return {0, n};
  Interval out = direct.from < direct.to ? direct : Interval{n, 0};
  const auto include = [&](std::int64_t place) {
    const std::int64_t mapped = map_outside(place, n, border);
    out.from = std::min(out.from, mapped);
    out.to = std::max(out.to, mapped + 1);
  };
  for (std::int64_t i = wanted.from; i < std::min<std::int64_t>(wanted.to, 0); ++i) include(i);
  for (std::int64_t i = std::max(wanted.from, n); i < wanted.to; ++i) include(i);
  return out;
}

}  // namespace

Region hull(const Region& a, const Region& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.x0, b.x0), std::min(a.y0, b.y0), std::max(a.x1, b.x1), std::max(a.y1, b.y1)};
}

std::int64_t map_outside(std::int64_t place, std::int64_t n, Border border) {
  if (place >= 0 && place < n) return place;
  switch (border) {
    case Border::constant:
    case Border::absent: return -1;
    case Border::replicate: return place < 0 ? 0 : n - 1;
    case Border::symmetric: {
      const std::int64_t period = 2 * n;
      const std::int64_t rest = (place % period + period) % period;
      return rest < n ? rest : period - 1 - rest;
    }
    case Border::reflect: {
      if (n == 1) return 0;
      const std::int64_t period = 2 * (n - 1);
      const std::int64_t rest = (place % period + period) % period;
      return rest < n ? rest : period - rest;
    }
    case Border::circular: return (place % n + n) % n;
  }
  return -1;
}

Region inside(const Region& wanted, Size size, Border border) {
  const Interval x = inside(Interval{wanted.x0, wanted.x1}, size.width, border);
  const Interval y = inside(Interval{wanted.y0, wanted.y1}, size.height, border);
  return {x.from, y.from, x.to, y.to};
}

Region permuted(const Permute& permute, const Region& out, Size size) {
  const Size result = permute.transpose ? Size{size.height, size.width} : size;
  Region r = out;
  if (permute.flip_x) {
    r.x0 = result.width - out.x1;
    r.x1 = result.width - out.x0;
  }
  if (permute.flip_y) {
    r.y0 = result.height - out.y1;
    r.y1 = result.height - out.y0;
  }
  if (permute.transpose) return {r.y0, r.x0, r.y1, r.x1};
  return r;
}

Region under(const PrimitiveFacts& facts, const Region& out) {
  const Footprint& f = facts.footprint;
  return {out.x0 + facts.shift_x - f.left, out.y0 + facts.shift_y - f.up,
          out.x1 + facts.shift_x + f.right, out.y1 + facts.shift_y + f.down};
}

Region read_region(const Node& node, const Region& out, Size size) {
  const PrimitiveFacts facts = facts_of(node);
  if (facts.stands_alone) return whole(size);
  if (facts.reads_around) return inside(under(facts, out), size, facts.border);
  if (const auto* permute = std::get_if<Permute>(&node.primitive)) {
    return permuted(*permute, out, size);
  }
  if (std::holds_alternative<Window>(node.primitive)) {
    const WindowPlace place = window_place(node, size);
    return inside(
        {out.x0 + place.left, out.y0 + place.top, out.x1 + place.left, out.y1 + place.top}, size,
        facts.border);
  }
  if (std::holds_alternative<Scalar>(node.primitive)) return {};
  return out;
}

}  // namespace impipe
