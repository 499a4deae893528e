// polygonize: the exact areas of objects, as polygons along the sides of their pixels.
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/plane_rows.hpp"
#include "ops/images.hpp"
#include "ops/morphology/connectivity.hpp"
#include "ops/outline/outline.hpp"

namespace impipe::ops {
namespace {

using Vertex = std::pair<std::int64_t, std::int64_t>;  // x, y: corners of pixels

// Labels with a pixel of background on each side, and their parts: pixels of one label that
// are connected by sides.
class Parts {
 public:
  explicit Parts(const Plane& labels)
      : stride_(labels.size().width + 2),
        labels_(static_cast<std::size_t>(stride_ * (labels.size().height + 2))),
        parts_(labels_.size()) {
    with_pixel(labels.cls(), [&]<class T>(T) {
      for (std::int64_t y = 0; y < labels.size().height; ++y) {
        add_row(labels.row_as<T>(y), y, labels.size().width);
      }
    });
  }
  float label(std::int64_t x, std::int64_t y) const { return labels_[place(x, y)]; }
  std::int64_t part(std::int64_t x, std::int64_t y) { return root(parts_[place(x, y)]); }

 private:
  std::size_t place(std::int64_t x, std::int64_t y) const {
    return static_cast<std::size_t>((y + 1) * stride_ + x + 1);
  }
  template <class T>
  void add_row(const T* row, std::int64_t y, std::int64_t width) {
    for (std::int64_t x = 0; x < width; ++x) {
      if (!(row[x] > 0)) continue;
      const std::size_t at = place(x, y), above = at - static_cast<std::size_t>(stride_);
      labels_[at] = static_cast<float>(row[x]);
      const bool left = labels_[at - 1] == labels_[at], up = labels_[above] == labels_[at];
      if (left) {
        parts_[at] = parts_[at - 1];
        if (up) join(parts_[at], parts_[above]);
      } else if (up) {
        parts_[at] = parts_[above];
      } else {
        parts_[at] = static_cast<std::int32_t>(parents_.size());
        parents_.push_back(parts_[at]);
      }
    }
  }
  std::int32_t root(std::int32_t part) {
    while (parents_[static_cast<std::size_t>(part)] != part) {
      std::int32_t& parent = parents_[static_cast<std::size_t>(part)];
      part = parent = parents_[static_cast<std::size_t>(parent)];
    }
    return part;
  }
  void join(std::int32_t a, std::int32_t b) {
    a = root(a);
    b = root(b);
    parents_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }

  std::int64_t stride_;
  std::vector<float> labels_;
  std::vector<std::int32_t> parts_, parents_;
};

struct Ring {
  float label = 0;
  std::int64_t part = 0;
  bool is_hole = false;
  Vertex first;  // the uppermost of the leftmost
  std::vector<Vertex> vertices;
};

// Twice the area; below 0 where the vertices go round a hole.
std::int64_t area_of(const std::vector<Vertex>& ring) {
  std::int64_t area = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Vertex a = ring[i], b = ring[(i + 1) % ring.size()];
    area += a.first * b.second - b.first * a.second;
  }
  return area;
}

class Rings {
 public:
  explicit Rings(const Plane& labels)
      : size_(labels.size()), parts_(labels), seen_(static_cast<std::size_t>(size_.pixels())) {}

  std::vector<Ring> take() {
    for (std::int64_t y = 0; y < size_.height; ++y) {
      for (std::int64_t x = 0; x < size_.width; ++x) {
        const float label = parts_.label(x, y);
        if (label == 0 || parts_.label(x, y - 1) == label || seen(x, y) != 0) continue;
        add_walk(x, y);
      }
    }
    return std::move(rings_);
  }

 private:
  std::uint8_t& seen(std::int64_t x, std::int64_t y) {
    return seen_[static_cast<std::size_t>(y * size_.width + x)];
  }

  // Along the sides of a part, which lies on the right, from the upper side of a pixel on. Where
  // the part touches itself in a corner only the walk stays at the pixel that it comes along.
  void add_walk(std::int64_t x, std::int64_t y) {
    static constexpr int dx[4] = {1, 0, -1, 0}, dy[4] = {0, 1, 0, -1};
    // The pixels ahead, on the right and on the left, from the corner that was reached.
    static constexpr int right_x[4] = {0, -1, -1, 0}, right_y[4] = {0, 0, -1, -1};
    static constexpr int left_x[4] = {0, 0, -1, -1}, left_y[4] = {-1, 0, 0, -1};
    const float label = parts_.label(x, y);
    const std::int64_t part = parts_.part(x, y);
    const Vertex start{x, y};
    std::vector<Vertex> walk;
    bool touches = false;
    int d = 0;
    do {
      if (d == 0) seen(x, y) = 1;
      x += dx[d];
      y += dy[d];
      const bool right = parts_.label(x + right_x[d], y + right_y[d]) == label;
      const bool left = parts_.label(x + left_x[d], y + left_y[d]) == label;
      if (right && !left) continue;
      touches = touches || !right;
      walk.emplace_back(x, y);
      d = right ? (d + 3) % 4 : (d + 1) % 4;
    } while (Vertex{x, y} != start || d != 0);
    if (!touches) return add(std::move(walk), label, part);
    split(walk, label, part);
  }

  // A walk that comes to a corner twice goes round several rings.
  void split(const std::vector<Vertex>& walk, float label, std::int64_t part) {
    std::vector<Vertex> open;
    std::map<Vertex, std::size_t> places;
    for (const Vertex& vertex : walk) {
      const auto known = places.find(vertex);
      if (known != places.end()) {
        const auto begin = open.begin() + static_cast<std::ptrdiff_t>(known->second);
        for (auto at = begin + 1; at != open.end(); ++at) places.erase(*at);
        add({begin, open.end()}, label, part);
        open.erase(begin + 1, open.end());
        continue;
      }
      places[vertex] = open.size();
      open.push_back(vertex);
    }
    add(std::move(open), label, part);
  }

  void add(std::vector<Vertex> vertices, float label, std::int64_t part) {
    const Vertex first = *std::ranges::min_element(vertices);
    const bool is_hole = area_of(vertices) < 0;
    rings_.push_back({label, part, is_hole, first, std::move(vertices)});
  }

  Size size_;
  Parts parts_;
  std::vector<std::uint8_t> seen_;  // pixels along whose upper sides a walk has gone
  std::vector<Ring> rings_;
};

// By object, then by part, the exterior before the holes.
void sort_rings(std::vector<Ring>& rings) {
  std::map<std::int64_t, Vertex> parts;  // their exteriors' first vertices
  for (const Ring& ring : rings) {
    if (!ring.is_hole) parts[ring.part] = ring.first;
  }
  const auto order = [&](const Ring& ring) {
    return std::tuple(ring.label, parts.at(ring.part), ring.is_hole, ring.first);
  };
  std::ranges::sort(rings, {}, order);
}

std::vector<double> polygon_rows(const Plane& labels, double origin) {
  std::vector<Ring> rings = Rings(labels).take();
  sort_rings(rings);
  std::vector<double> rows;
  double part = 0, number = 0;
  for (std::size_t r = 0; r < rings.size(); ++r) {
    const Ring& ring = rings[r];
    const bool is_first = r == 0 || rings[r - 1].label != ring.label;
    part = is_first ? 1 : ring.is_hole ? part : part + 1;
    number = ring.is_hole ? number + 1 : 0;
    for (std::size_t i = 0; i <= ring.vertices.size(); ++i) {
      const auto [x, y] = ring.vertices[i % ring.vertices.size()];
      rows.insert(rows.end(),
                  {ring.label, part, number, static_cast<double>(i) + 1,
                   static_cast<double>(x) + origin / 2, static_cast<double>(y) + origin / 2});
    }
  }
  return rows;
}

const RegisterOperator polygonize_operator{{
    .name = "polygonize",
    .help = "the exact areas of objects as polygons along the sides of their pixels",
    .category = "statistics",
    .parameters = {connectivity_parameter("8"), origin_parameter("0")},
    .one_channel = true,
    .table = true,
    .details =
        R"(Objects of a logical image are numbered as bwlabel does, with conn; the values of others are labels
(0 and below are background). Pixel (x, y) is the square from x to x+1 and from y to y+1, with origin=1
from x+0.5 on, x counted from 1; y goes down. An object has a polygon for each part that is connected by
sides; its rings are simple, have no vertex in the middle of a straight side, and end in their first
vertex: exteriors are counter-clockwise in these numbers, holes clockwise. The area of the polygons is
the number of pixels.
-o '{stem}.geojson' writes a FeatureCollection with a Polygon or MultiPolygon for each object, which GIS
programs read and poly2mask makes the mask of. As a table (stdout, '.csv', '.tsv', '.json', '.npy'):
Object Part Ring Index X Y; Ring 0 is the exterior. Components on the device, polygons on the host.)",
    .example = "imbinarize | polygonize",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::other,
                   "not 0, as objects are, where components are counted; labels hold no NaN"},
    .matlab =
        "bwboundaries(BW) goes through the centres of pixels; no function of MATLAB follows their "
        "sides",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const ImageValue image = plan.current();
          const double origin = call.number("origin");
          plan.report_objects("polygonize",
                              {.labels = labelled(call, plan, image).id,
                               .columns = {"Object", "Part", "Ring", "Index", "X", "Y"},
                               .rows = [origin](const Plane& labels, const Plane*) {
                                 return polygon_rows(labels, origin);
                               }});
          return image;
        },
}};

}  // namespace
}  // namespace impipe::ops
