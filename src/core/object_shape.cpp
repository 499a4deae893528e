#include "core/object_shape.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "core/hull.hpp"
#include "core/object_table.hpp"
#include "core/plane_rows.hpp"
#include "core/text.hpp"

namespace impipe {
namespace {

using Wide = __int128;

// Vertices of a hull, in halves of pixels or, doubled, in what their sides are given in.
template <class Number>
struct Vertex {
  Number x, y;
};

// In degrees, counter-clockwise from the x axis, of a line that has this direction: (-90, 90].
template <class Number>
double angle_of(Vertex<Number> direction) {
  if (direction.x < 0 || (direction.x == 0 && direction.y > 0)) {
    direction = {-direction.x, -direction.y};
  }
  const double y = 0.0 - static_cast<double>(direction.y);  // not -0
  return std::atan2(y, static_cast<double>(direction.x)) * 180 / std::numbers::pi;
}

struct Feret {
  double longest = 0, longest_angle = 0, shortest = 0, shortest_angle = 0;
};

template <class Number>
void measure_longest(std::span<const Vertex<Number>> hull, Feret& out) {
  Number most = 0;
  for (std::size_t i = 0; i < hull.size(); ++i) {
    for (std::size_t j = i + 1; j < hull.size(); ++j) {
      const Vertex<Number> line{hull[j].x - hull[i].x, hull[j].y - hull[i].y};
      const Number length = line.x * line.x + line.y * line.y;
      if (length < most) continue;
      const double angle = angle_of(line);
      if (length == most && angle >= out.longest_angle) continue;
      most = length;
      out.longest_angle = angle;
    }
  }
  out.longest = std::sqrt(static_cast<double>(most)) / 2;
}

// Widths are compared as fractions of squared numbers: exactly where these are whole.
template <class Number>
void measure_shortest(std::span<const Vertex<Number>> hull, Feret& out) {
  Number least = -1, least_length = 1;
  for (std::size_t i = 0; i < hull.size(); ++i) {
    const Vertex<Number> a = hull[i], b = hull[(i + 1) % hull.size()];
    const Vertex<Number> side{b.x - a.x, b.y - a.y};
    Number most = 0;  // width times length
    for (const Vertex<Number>& p : hull) {
      most = std::max<Number>(most, side.x * (p.y - a.y) - side.y * (p.x - a.x));
    }
    const Number length = side.x * side.x + side.y * side.y;
    const Number square = most * most;
    const bool is_less = least < 0 || square * least_length < least * length;
    const double angle = angle_of(Vertex<Number>{side.y, -side.x});
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

template <class Number>
Feret feret_of(std::span<const Place> hull, Number across, Number down) {
  std::vector<Vertex<Number>> vertices;
  for (const Place& place : hull) {
    vertices.push_back(
        {static_cast<Number>(place.x) * across, static_cast<Number>(place.y) * down});
  }
  Feret feret;
  measure_longest<Number>(vertices, feret);
  measure_shortest<Number>(vertices, feret);
  return feret;
}

void add_feret(const ObjectSpans& object, const ObjectScale& scale,
               std::map<std::string, double>& values) {
  const std::vector<Place> hull = convex_hull(corner_points(object.rows));
  const double unit = scale.is_square() ? scale.across : 1;
  const Feret feret = scale.is_square() ? feret_of<Wide>(hull, 1, 1)
                                        : feret_of<double>(hull, scale.across, scale.down);
  values["MaxFeretDiameter"] = feret.longest * unit;
  values["MaxFeretAngle"] = feret.longest_angle;
  values["MinFeretDiameter"] = feret.shortest * unit;
  values["MinFeretAngle"] = feret.shortest_angle;
}

constexpr std::string_view percentile = "Percentile";

// Between the two values that the place lies between; NaN lies behind all numbers.
double percentile_of(const std::vector<double>& sorted, double percent) {
  const double at = percent / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const double part = at - static_cast<double>(below), a = sorted[below];
  const double b = sorted[std::min(below + 1, sorted.size() - 1)];
  return part == 0 || a == b ? a : a + (b - a) * part;
}

void add_percentiles(const ObjectImages& images, const ObjectSpans& object,
                     const std::vector<std::string>& wanted,
                     std::map<std::string, double>& values) {
  std::vector<double> sorted;
  with_pixel(images.labels->cls(), [&]<class L>(L) {
    with_pixel(images.intensities->cls(), [&]<class T>(T) {
      for (const RowSpan& span : object.rows) {
        const L* label = images.labels->row_as<L>(span.y);
        const T* pixel = images.intensities->row_as<T>(span.y);
        for (std::int64_t x = span.left; x <= span.right; ++x) {
          if (label[x] == object.label) sorted.push_back(pixel[x]);
        }
      }
    });
  });
  std::ranges::sort(sorted,
                    [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; });
  for (const std::string& name : wanted) {
    if (!name.starts_with(percentile)) continue;
    values[name] = percentile_of(sorted, *number_value(name.substr(percentile.size())));
  }
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

std::string percentile_column(double percent) {
  return std::string(percentile) + number_text(percent);
}

bool needs_intensities(std::span<const std::string> columns) {
  return std::ranges::any_of(columns,
                             [](const std::string& name) { return name.starts_with(percentile); });
}

bool needs_labels(std::span<const std::string> columns) {
  return needs_intensities(columns) || std::ranges::any_of(columns, [](const std::string& name) {
           return name == "FilledArea" || name.find("Feret") != name.npos;
         });
}

std::vector<double> chosen_columns(std::span<const double> rows, const ObjectTable& table,
                                   const ObjectImages& images) {
  const std::vector<std::string>& wanted = table.columns;
  const std::vector<std::string> columns = object_columns(table.intensities.has_value());
  const bool is_filled = std::ranges::count(wanted, "FilledArea") > 0;
  const bool has_feret = std::ranges::any_of(
      wanted, [](const std::string& name) { return name.find("Feret") != name.npos; });
  const double unit = table.scale.across * table.scale.down;  // of areas
  std::vector<ObjectSpans> objects;
  if (images.labels != nullptr) objects = object_spans(*images.labels);
  std::vector<double> out;
  for (std::size_t i = 0; i < rows.size() / columns.size(); ++i) {
    std::map<std::string, double> values;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      values[columns[c]] = rows[i * columns.size() + c];
    }
    const double area = values["Area"], perimeter = values["Perimeter"];
    values["ConvexArea"] = std::round(area / unit / values["Solidity"]) * unit;  // of whole pixels
    values["Circularity"] = 4 * std::numbers::pi * area / (perimeter * perimeter);
    if (has_feret) add_feret(objects[i], table.scale, values);
    if (is_filled) values["FilledArea"] = filled_area(*images.labels, objects[i]) * unit;
    if (images.intensities != nullptr) add_percentiles(images, objects[i], wanted, values);
    for (const std::string& name : wanted) out.push_back(values.at(name));
  }
  return out;
}

}  // namespace impipe
