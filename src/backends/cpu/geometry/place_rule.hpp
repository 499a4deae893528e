// Where the outputs of a map lie in the input, rounded as the definition has it.
#pragma once

#include <cstdint>

#include "core/placement.hpp"

namespace impipe::cpu {

// One coordinate of the places in a row of outputs. fused: slope u + at, rounded once; else
// slope (u - first) + at + center + origin, each operation rounded, left to right. Of a projective
// map x and y are divided by w before their origins are added.
struct PlaceAxis {
  double slope = 1, at = 0, center = 0, origin = 0;
};
struct PlaceRow {
  bool fused = true, divided = false;
  double first = 0;
  PlaceAxis x, y, w;
};
// Does not fall where slope is not below 0, and does not rise where it is.
inline double place_at(const PlaceRow& row, const PlaceAxis& axis, double u) {
  if (row.fused) return __builtin_fma(axis.slope, u, axis.at);
  return axis.slope * (u - row.first) + axis.at + axis.center + axis.origin;
}

struct Place {
  double x, y;
};
// In a row of a projective map.
inline Place divided_place(const PlaceRow& row, double u) {
  const double across = u - row.first;
  const auto centred = [&](const PlaceAxis& axis) {
    return axis.slope * across + axis.at + axis.center;
  };
  const double w = centred(row.w);
  return {centred(row.x) / w + row.x.origin, centred(row.y) / w + row.y.origin};
}

class PlaceRule {
 public:
  PlaceRule(const Node& node, Size input)
      : fused_(is_plain_affine(std::get<Resample>(node.primitive))) {
    if (fused_) {
      place_ = affine_place(node, input);
      return;
    }
    mapped_ = mapped_place(node, input);
    const MappedPlace& p = mapped_;
    place_ = {p.a, p.b, p.c + p.x0 - p.a * p.u0 - p.b * p.v0,
              p.d, p.e, p.f + p.y0 - p.d * p.u0 - p.e * p.v0};
  }

  // The places of an affine map but for rounding errors; just those where they are two fma.
  const AffinePlace& place() const { return place_; }

  PlaceRow row(std::int64_t v) const {
    const double down = static_cast<double>(v);
    if (fused_) {
      const AffinePlace& p = place_;
      return {.x = {.slope = p.a, .at = __builtin_fma(p.b, down, p.c)},
              .y = {.slope = p.d, .at = __builtin_fma(p.e, down, p.f)}};
    }
    const MappedPlace& p = mapped_;
    return {.fused = false,
            .divided = p.g != 0 || p.h != 0 || p.i != 1,
            .first = p.u0,
            .x = {.slope = p.a, .at = p.b * (down - p.v0), .center = p.c, .origin = p.x0},
            .y = {.slope = p.d, .at = p.e * (down - p.v0), .center = p.f, .origin = p.y0},
            .w = {.slope = p.g, .at = p.h * (down - p.v0), .center = p.i}};
  }

 private:
  bool fused_;
  AffinePlace place_;
  MappedPlace mapped_;
};

}  // namespace impipe::cpu
