// Convex hulls of objects: what of an image's rows an object takes, and the hull of points there.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/image.hpp"

namespace impipe {

// A place in doubled numbers, so that the middles of pixels' sides and their corners are whole.
struct Place {
  std::int64_t x = 0, y = 0;
  bool operator==(const Place&) const = default;
};

// An object's pixels of a row: from the first to the last.
struct RowSpan {
  std::int64_t y = 0, left = 0, right = 0;
};

// The objects of an image of labels, in the order of these: values above 0.
struct ObjectSpans {
  double label = 0;
  std::vector<RowSpan> rows;  // those that have pixels
};
std::vector<ObjectSpans> object_spans(const Plane& labels);

// Of the middles of the pixels' sides: 2 (x +- 1/2, y) and 2 (x, y +- 1/2).
std::vector<Place> side_points(std::span<const RowSpan> rows);
// Of the pixels' corners: 2 (x +- 1/2, y +- 1/2).
std::vector<Place> corner_points(std::span<const RowSpan> rows);

// The vertices of the points' hull, none in the middle of a side: clockwise on the screen from the
// leftmost, of those the uppermost.
std::vector<Place> convex_hull(std::vector<Place> points);

// Calls take(y, left, right) for the pixels of each row whose centres lie in or on the hull.
void each_hull_row(std::span<const Place> hull,
                   const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& take);

}  // namespace impipe
