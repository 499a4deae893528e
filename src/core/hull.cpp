#include "core/hull.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "core/plane_rows.hpp"

namespace impipe {
namespace {

using Wide = __int128;

std::int64_t floor_of(Wide a, Wide b) {  // b > 0
  const Wide quotient = a / b;
  return static_cast<std::int64_t>(a % b < 0 ? quotient - 1 : quotient);
}

Wide turn(Place a, Place b, Place c) {
  return Wide{b.x - a.x} * (c.y - a.y) - Wide{b.y - a.y} * (c.x - a.x);
}

std::vector<Place> points_of(std::span<const RowSpan> rows, std::span<const Place> around) {
  std::vector<Place> points;
  points.reserve(rows.size() * 2 * around.size());
  for (const RowSpan& row : rows) {
    for (const std::int64_t x : {row.left, row.right}) {
      for (const Place& p : around) points.push_back({2 * x + p.x, 2 * row.y + p.y});
    }
  }
  return points;
}

// Collects the runs of equal labels.
class Spans {
 public:
  template <class T>
  void add(const T* row, std::int64_t y, std::int64_t width) {
    for (std::int64_t x = 0; x < width;) {
      const T label = row[x];
      const std::int64_t begin = x;
      while (x < width && row[x] == label) ++x;
      if (x == begin) ++x;  // NaN
      if (label > 0) add_run(static_cast<double>(label), {y, begin, x - 1});
    }
  }
  std::vector<ObjectSpans> take() {
    std::ranges::sort(objects_, {}, &ObjectSpans::label);
    return std::move(objects_);
  }

 private:
  void add_run(double label, RowSpan run) {
    const auto [known, is_new] = numbers_.try_emplace(label, objects_.size());
    if (is_new) objects_.push_back({label, {}});
    std::vector<RowSpan>& rows = objects_[known->second].rows;
    if (!rows.empty() && rows.back().y == run.y) {
      rows.back().right = run.right;
    } else {
      rows.push_back(run);
    }
  }

  std::unordered_map<double, std::size_t> numbers_;
  std::vector<ObjectSpans> objects_;
};

}  // namespace

std::vector<ObjectSpans> object_spans(const Plane& labels) {
  Spans spans;
  with_pixel(labels.cls(), [&]<class T>(T) {
    for (std::int64_t y = 0; y < labels.size().height; ++y) {
      spans.add(labels.row_as<T>(y), y, labels.size().width);
    }
  });
  return spans.take();
}

std::vector<Place> side_points(std::span<const RowSpan> rows) {
  constexpr Place sides[] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
  return points_of(rows, sides);
}

std::vector<Place> corner_points(std::span<const RowSpan> rows) {
  constexpr Place corners[] = {{-1, -1}, {1, -1}, {-1, 1}, {1, 1}};
  return points_of(rows, corners);
}

// Andrew's monotone chain.
std::vector<Place> convex_hull(std::vector<Place> points) {
  std::ranges::sort(points, [](Place a, Place b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  std::vector<Place> hull;
  const auto add = [&](Place point, std::size_t least) {
    while (hull.size() >= least + 2 && turn(hull[hull.size() - 2], hull.back(), point) <= 0) {
      hull.pop_back();
    }
    hull.push_back(point);
  };
  for (const Place point : points) add(point, 0);
  const std::size_t lower = hull.size() - 1;
  for (auto point = points.rbegin(); point != points.rend(); ++point) add(*point, lower);
  hull.pop_back();
  return hull;
}

void each_hull_row(std::span<const Place> hull,
                   const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& take) {
  const auto [upper, lower] = std::ranges::minmax_element(hull, {}, &Place::y);
  const std::int64_t top = -floor_of(-upper->y, 2), bottom = floor_of(lower->y, 2);
  const auto rows = static_cast<std::size_t>(bottom - top + 1);
  std::vector<std::int64_t> left(rows, std::numeric_limits<std::int64_t>::max());
  std::vector<std::int64_t> right(rows, std::numeric_limits<std::int64_t>::min());
  for (std::size_t k = 0; k < hull.size(); ++k) {
    Place a = hull[k], b = hull[(k + 1) % hull.size()];
    if (a.y == b.y) continue;
    if (a.y > b.y) std::swap(a, b);
    for (std::int64_t y = -floor_of(-a.y, 2); 2 * y <= b.y; ++y) {
      // Twice the column of the edge, times its height.
      const Wide height = b.y - a.y;
      const Wide at = Wide{a.x} * height + Wide{2 * y - a.y} * (b.x - a.x);
      const auto row = static_cast<std::size_t>(y - top);
      left[row] = std::min(left[row], -floor_of(-at, 2 * height));
      right[row] = std::max(right[row], floor_of(at, 2 * height));
    }
  }
  for (std::size_t row = 0; row < rows; ++row) {
    if (left[row] <= right[row]) take(top + static_cast<std::int64_t>(row), left[row], right[row]);
  }
}

}  // namespace impipe
