// Where a result lies in a larger picture.
#include "io/metadata/windows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace impipe::io {
namespace {

// A side of the display window, first and last pixel, in pixels of the result.
struct Side {
  double first = 0, last = 0, origin = 0;
};

// result pixel = (file pixel - offset) / step. low, high: the display window's side in the file's
// canvas; data: where the file's picture begins in it.
Side moved_side(double step, double offset, int low, int high, int data) {
  const auto edge = [&](double at) { return (at - data - offset) / step; };
  const double a = edge(low - 0.5), b = edge(high + 0.5);
  const double first = std::round(std::min(a, b) + 0.5);
  const double count = std::max(1.0, std::round(std::abs(b - a)));
  return {first, first + count - 1, std::round(low / std::abs(step))};
}

}  // namespace

std::optional<Windows> moved_windows(const Windows& before, const PixelChange& change) {
  if (change.before.pixels() == 0) return {};
  const bool straight = change.is_straight();
  if (!straight && !change.is_transposed()) return {};
  const AffinePlace& place = *change.place;
  const std::array<int, 4>& box = before.display;
  const Side of_x =
      moved_side(straight ? place.a : place.b, place.c, box[0], box[2], before.data[0]);
  const Side of_y =
      moved_side(straight ? place.e : place.d, place.f, box[1], box[3], before.data[1]);
  const std::array<Side, 2> sides = straight ? std::array{of_x, of_y} : std::array{of_y, of_x};
  const std::array<double, 2> size{static_cast<double>(change.after.width),
                                   static_cast<double>(change.after.height)};
  Windows out;
  for (std::size_t k = 0; k < 2; ++k) {
    const double data = sides[k].origin - sides[k].first;
    const std::array<double, 4> values{data, data + size[k] - 1, sides[k].origin,
                                       sides[k].origin + sides[k].last - sides[k].first};
    constexpr double most = std::numeric_limits<int>::max() / 2;
    if (std::ranges::any_of(values, [](double v) { return std::abs(v) > most; })) {
      return {};
    }
    out.data[k] = static_cast<int>(values[0]);
    out.data[k + 2] = static_cast<int>(values[1]);
    out.display[k] = static_cast<int>(values[2]);
    out.display[k + 2] = static_cast<int>(values[3]);
  }
  return out;
}

}  // namespace impipe::io
