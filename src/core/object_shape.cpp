#include "core/object_shape.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "core/hull.hpp"
#include "core/plane_rows.hpp"

namespace impipe {
namespace {

using Wide = __int128;

// In degrees, counter-clockwise from the x axis, of a line that has this direction: (-90, 90].
double angle_of(Place direction) {
  if (direction.x < 0 || (direction.x == 0 && direction.y > 0)) {
    direction = {-direction.x, -direction.y};
  }
  const double y = 0.0 - static_cast<double>(direction.y);  // not -0
  return std::atan2(y, static_cast<double>(direction.x)) * 180 / std::numbers::pi;
}

struct Feret {
  double longest = 0, longest_angle = 0, shortest = 0, shortest_angle = 0;
};

void measure_longest(std::span<const Place> hull, Feret& out) {
  Wide most = 0;
  for (std::size_t i = 0; i < hull.size(); ++i) {
    for (std::size_t j = i + 1; j < hull.size(); ++j) {
      const Place line{hull[j].x - hull[i].x, hull[j].y - hull[i].y};
      const Wide length = Wide{line.x} * line.x + Wide{line.y} * line.y;
      if (length < most) continue;
      const double angle = angle_of(line);
      if (length == most && angle >= out.longest_angle) continue;
      most = length;
      out.longest_angle = angle;
    }
  }
  out.longest = std::sqrt(static_cast<double>(most)) / 2;
}

// Widths are compared as fractions of squared whole numbers.
void measure_shortest(std::span<const Place> hull, Feret& out) {
  Wide least = -1, least_length = 1;
  for (std::size_t i = 0; i < hull.size(); ++i) {
    const Place a = hull[i], b = hull[(i + 1) % hull.size()];
    const Place side{b.x - a.x, b.y - a.y};
    Wide most = 0;  // width times length
    for (const Place& p : hull) {
      most = std::max(most, Wide{side.x} * (p.y - a.y) - Wide{side.y} * (p.x - a.x));
    }
    const Wide length = Wide{side.x} * side.x + Wide{side.y} * side.y;
    const Wide square = most * most;
    const bool is_less = least < 0 || square * least_length < least * length;
    const double angle = angle_of({side.y, -side.x});
    if (!is_less && (square * least_length != least * length || angle >= out.shortest_angle)) {
      continue;
    }
    least = square;
    least_length = length;
    out.shortest_angle = angle;
  }
  out.shortest =
      std::sqrt(static_cast<double>(least)) / std::sqrt(static_cast<double>(least_length)) / 2;
}

// The pixels of an object and of its holes, which are 4-connected.
double filled_area(const Plane& labels, const ObjectSpans& object) {
  std::int64_t left = object.rows.front().left, right = left;
  const std::int64_t top = object.rows.front().y;
  for (const RowSpan& row : object.rows) {
    left = std::min(left, row.left);
    right = std::max(right, row.right);
  }
  // With a pixel of background on each side.
  const std::int64_t width = right - left + 3, height = object.rows.back().y - top + 3;
  std::vector<std::uint8_t> taken(static_cast<std::size_t>(width * height));
  with_pixel(labels.cls(), [&]<class T>(T) {
    for (const RowSpan& span : object.rows) {
      const T* row = labels.row_as<T>(span.y);
      std::uint8_t* to = taken.data() + (span.y - top + 1) * width + 1 - left;
      for (std::int64_t x = span.left; x <= span.right; ++x) to[x] = row[x] == object.label;
    }
  });
  std::vector<std::int64_t> open{0};
  taken[0] = 1;
  std::int64_t outside = 0;
  while (!open.empty()) {
    const std::int64_t at = open.back(), x = at % width, y = at / width;
    open.pop_back();
    ++outside;
    const auto visit = [&](std::int64_t next) {
      if (taken[static_cast<std::size_t>(next)] != 0) return;
      taken[static_cast<std::size_t>(next)] = 1;
      open.push_back(next);
    };
    if (x > 0) visit(at - 1);
    if (x + 1 < width) visit(at + 1);
    if (y > 0) visit(at - width);
    if (y + 1 < height) visit(at + width);
  }
  return static_cast<double>(width * height - outside);
}

}  // namespace

std::vector<std::string> shape_columns() {
  return {"ConvexArea",    "FilledArea",       "Circularity",  "MaxFeretDiameter",
          "MaxFeretAngle", "MinFeretDiameter", "MinFeretAngle"};
}

bool needs_labels(std::span<const std::string> columns) {
  return std::ranges::any_of(columns, [](const std::string& name) {
    return name == "FilledArea" || name.find("Feret") != name.npos;
  });
}

std::vector<double> chosen_columns(std::span<const double> rows,
                                   const std::vector<std::string>& columns,
                                   const std::vector<std::string>& wanted, const Plane* labels) {
  const bool is_filled = std::ranges::count(wanted, "FilledArea") > 0;
  std::vector<ObjectSpans> objects;
  if (labels != nullptr) objects = object_spans(*labels);
  std::vector<double> out;
  for (std::size_t i = 0; i < rows.size() / columns.size(); ++i) {
    std::map<std::string, double> values;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      values[columns[c]] = rows[i * columns.size() + c];
    }
    const double area = values["Area"], perimeter = values["Perimeter"];
    values["ConvexArea"] = std::round(area / values["Solidity"]);  // a whole number
    values["Circularity"] = 4 * std::numbers::pi * area / (perimeter * perimeter);
    if (labels != nullptr) {
      Feret feret;
      const std::vector<Place> hull = convex_hull(corner_points(objects[i].rows));
      measure_longest(hull, feret);
      measure_shortest(hull, feret);
      values["MaxFeretDiameter"] = feret.longest;
      values["MaxFeretAngle"] = feret.longest_angle;
      values["MinFeretDiameter"] = feret.shortest;
      values["MinFeretAngle"] = feret.shortest_angle;
      if (is_filled) values["FilledArea"] = filled_area(*labels, objects[i]);
    }
    for (const std::string& name : wanted) out.push_back(values.at(name));
  }
  return out;
}

}  // namespace impipe
