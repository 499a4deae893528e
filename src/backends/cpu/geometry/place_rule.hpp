// Where the outputs of an affine map lie in the input, rounded as the definition has it.
#pragma once

#include <cstdint>

#include "core/placement.hpp"

namespace impipe::cpu {

// One coordinate of the places in a row of outputs. fused: slope u + at, rounded once; else
// slope (u - first) + at + center + origin, each operation rounded, left to right.
struct PlaceAxis {
  double slope = 1, at = 0, center = 0, origin = 0;
};
struct PlaceRow {
  bool fused = true;
  double first = 0;
  PlaceAxis x, y;
};
// Does not fall where slope is not below 0, and does not rise where it is.
inline double place_at(const PlaceRow& row, const PlaceAxis& axis, double u) {
  if (row.fused) return __builtin_fma(axis.slope, u, axis.at);
  return axis.slope * (u - row.first) + axis.at + axis.center + axis.origin;
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

  // The places but for rounding errors; just those where they are two fma.
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
            .first = p.u0,
            .x = {.slope = p.a, .at = p.b * (down - p.v0), .center = p.c, .origin = p.x0},
            .y = {.slope = p.d, .at = p.e * (down - p.v0), .center = p.f, .origin = p.y0}};
  }

 private:
  bool fused_;
  AffinePlace place_;
  MappedPlace mapped_;
};

}  // namespace impipe::cpu
