// Rows of pixels as doubles, and back.
#include "core/page_operation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/plane_rows.hpp"

namespace impipe {

double pixel_at(const Plane& plane, std::int64_t x, std::int64_t y) {
  return with_pixel(plane.cls(), [&]<class T>(T) -> double { return plane.row_as<T>(y)[x]; });
}

void load_row(const Plane& plane, std::int64_t y, double* values) {
  with_pixel(plane.cls(),
             [&]<class T>(T) { std::copy_n(plane.row_as<T>(y), plane.size().width, values); });
}

void store_row(const double* values, Plane& plane, std::int64_t y) {
  with_pixel(plane.cls(), [&]<class T>(T) {
    T* to = plane.row_as<T>(y);
    for (std::int64_t x = 0; x < plane.size().width; ++x) {
      if constexpr (std::is_floating_point_v<T>) {
        to[x] =
            std::isnan(values[x]) ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(values[x]);
      } else {
        const double rounded = std::floor(values[x] + 0.5);
        to[x] = rounded > 0 ? static_cast<T>(std::min(rounded, class_max(plane.cls()))) : T{0};
      }
    }
  });
}

}  // namespace impipe
