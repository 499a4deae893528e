// The geometry of sums along parallel rays, the same on every backend.
#pragma once

#include <array>
#include <cstdint>

#include "core/image.hpp"

namespace impipe {

// An image as rays of 0 to 45 degrees see it. A pixel in column x and row y, counted from the
// middle floor((size + 1) / 2), is at (u, v) = (x, y) or, transposed, (y, x), either negated by its
// flip.
struct RayFrame {
  bool transposed = false;
  bool flip_u = false, flip_v = false;
};
inline constexpr std::array<RayFrame, 4> ray_frames = {
    {{false, false, true}, {true, true, false}, {true, true, true}, {false, true, true}}};

// A projection at any angle is one of an angle from 0 to 45 degrees of one of the frames, read
// backwards for angles of half a turn and more: x cos(theta) - y sin(theta) = along u + across v,
// along >= across >= 0. Angles t, 90 - t, 90 + t and 180 - t share `along` and `across` to the bit.
struct RayDirection {
  double along = 1, across = 0;
  int frame = 0;  // in ray_frames
  bool reversed = false;
};
RayDirection ray_direction(double degrees);

// Radon's sums of a frame. It is cut into strips one pixel wide along u that follow the rays: of
// row v strip j has the pixel at u = j + shift(v). All pixels of a strip fall into the same four
// bins. Sums of a strip are in float over bands of rows, then of the bands in double: the first
// half of the bands (rounded up), the others, and both together.
struct RayStrips {
  std::int64_t half_u = 0, half_v = 0;  // u is from -half_u to half_u, and so on
  std::int64_t bands = 1;               // of ray_band rows; the last one has the rest, too
};
inline constexpr std::int64_t ray_band = 64;
RayStrips ray_strips(const RayFrame& frame, Size image);

}  // namespace impipe
