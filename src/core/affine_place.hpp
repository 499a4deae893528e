// Where the pixels of an image come from, where an affine map says so.
#pragma once

#include "core/image.hpp"

namespace impipe {

// (x, y) = (a u + b v + c, d u + e v + f): the input place of output (u, v), both counted from
// pixel (0, 0).
struct AffinePlace {
  double a = 1, b = 0, c = 0, d = 0, e = 1, f = 0;
  bool operator==(const AffinePlace&) const = default;
};

// The place that `outer` finds for the place that `inner` finds.
inline AffinePlace composed(const AffinePlace& outer, const AffinePlace& inner) {
  return {outer.a * inner.a + outer.b * inner.d,
          outer.a * inner.b + outer.b * inner.e,
          outer.a * inner.c + outer.b * inner.f + outer.c,
          outer.d * inner.a + outer.e * inner.d,
          outer.d * inner.b + outer.e * inner.e,
          outer.d * inner.c + outer.e * inner.f + outer.f};
}

// Of an image that is transposed, if it is, and whose result, of this size, is then mirrored.
inline AffinePlace permuted_place(bool transpose, bool flip_x, bool flip_y, Size result) {
  const AffinePlace unflipped{flip_x ? -1.0 : 1.0,
                              0,
                              flip_x ? static_cast<double>(result.width - 1) : 0,
                              0,
                              flip_y ? -1.0 : 1.0,
                              flip_y ? static_cast<double>(result.height - 1) : 0};
  return transpose ? composed({0, 1, 0, 1, 0, 0}, unflipped) : unflipped;
}

}  // namespace impipe
