// The geometry of sums along parallel rays.
#include "core/rays.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace impipe {

RayDirection ray_direction(double degrees) {
  // The remainder is exact, and so are the differences: equal angles stay equal.
  double t = std::fmod(degrees, 360);
  if (t < 0) t += 360;
  if (t >= 360) t = 0;
  RayDirection direction;
  direction.reversed = t >= 180;
  if (direction.reversed) t -= 180;
  double angle = t;
  if (t > 45 && t <= 90) {
    angle = 90 - t;
    direction.frame = 1;
  } else if (t > 90 && t < 135) {
    angle = t - 90;
    direction.frame = 2;
  } else if (t >= 135) {
    angle = 180 - t;
    direction.frame = 3;
  }
  const double radians = angle * std::numbers::pi / 180;
  direction.along = std::cos(radians);
  // At 45 degrees the two differ in the last bit.
  direction.across = std::min(std::sin(radians), direction.along);
  return direction;
}

RayStrips ray_strips(const RayFrame& frame, Size image) {
  const std::int64_t across = frame.transposed ? image.height : image.width;
  const std::int64_t down = frame.transposed ? image.width : image.height;
  RayStrips strips{across / 2, down / 2};
  strips.bands = std::max<std::int64_t>((2 * strips.half_v + 1) / ray_band, 1);
  return strips;
}

}  // namespace impipe
