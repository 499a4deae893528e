// What became of a picture's pixels between its file and a result.
#include "core/pixel_change.hpp"

#include <cmath>

namespace impipe {

double PixelChange::scale_x() const { return 1 / std::abs(is_straight() ? place->a : place->d); }
double PixelChange::scale_y() const { return 1 / std::abs(is_straight() ? place->e : place->b); }

std::optional<PixelChange::Lengths> PixelChange::pixel_lengths(Lengths in_file) const {
  if (!place) return {};
  // The two sides of a pixel, as vectors in the scene.
  const double ax = place->a * in_file.x, ay = place->d * in_file.y;
  const double bx = place->b * in_file.x, by = place->e * in_file.y;
  const Lengths out{std::hypot(ax, ay), std::hypot(bx, by)};
  constexpr double little = 1e-9;
  if (!(out.x > 0 && out.y > 0) || std::abs(ax * bx + ay * by) > little * out.x * out.y) return {};
  return out;
}

bool PixelChange::scaled() const {
  if (!is_straight() && !is_transposed()) return true;
  constexpr double little = 1e-9;
  return std::abs(scale_x() - 1) > little || std::abs(scale_y() - 1) > little;
}

bool PixelChange::has_same_frame() const {
  if (!is_straight()) return false;
  // From the first pixel's outer edge to the last one's, but for a part of the result's pixel: the
  // size of a result is rounded up.
  const auto spans = [](double scale, double from, std::int64_t side, std::int64_t result) {
    const double first = from - 0.5 * scale + 0.5;
    const double last = first + scale * static_cast<double>(result);
    return scale > 0 && std::abs(first) < 0.01 &&
           std::abs(last - static_cast<double>(side)) < scale;
  };
  return spans(place->a, place->c, before.width, after.width) &&
         spans(place->e, place->f, before.height, after.height);
}

}  // namespace impipe
