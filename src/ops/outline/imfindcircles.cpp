// imfindcircles: circles in an image of edges.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/plane_rows.hpp"
#include "core/shared_pool.hpp"
#include "ops/images.hpp"
#include "ops/outline/outline.hpp"

namespace impipe::ops {
namespace {

struct Circle {
  std::int64_t x = 0, y = 0, radius = 0;
  double score = 0;
};

struct Offset {
  std::int64_t x = 0, y = 0;
};

// Those whose distance rounds to the radius.
std::vector<Offset> circle_offsets(std::int64_t radius) {
  std::vector<Offset> out;
  const auto rounded = [](std::int64_t x, std::int64_t y) {
    return static_cast<std::int64_t>(
        std::floor(std::sqrt(static_cast<double>(x * x + y * y)) + 0.5));
  };
  std::int64_t first = 0;  // of a row; it grows towards the middle row
  for (std::int64_t y = radius; y >= 0; --y) {
    while (rounded(first, y) < radius) ++first;
    for (std::int64_t x = first; rounded(x, y) == radius; ++x) {
      out.push_back({x, y});
      if (x > 0) out.push_back({-x, y});
      if (y > 0) out.push_back({x, -y});
      if (x > 0 && y > 0) out.push_back({-x, -y});
    }
  }
  return out;
}

// The columns of the pixels of each row that are not 0.
std::vector<std::vector<std::int64_t>> edge_columns(const Plane& edges) {
  std::vector<std::vector<std::int64_t>> out(static_cast<std::size_t>(edges.size().height));
  with_pixel(edges.cls(), [&]<class T>(T) {
    for (std::int64_t y = 0; y < edges.size().height; ++y) {
      for (std::int64_t x = 0; x < edges.size().width; ++x) {
        if (edges.row_as<T>(y)[x] != 0) out[static_cast<std::size_t>(y)].push_back(x);
      }
    }
  });
  return out;
}

// Adds the circles of one radius that have the score.
void add_candidates(const std::vector<std::vector<std::int64_t>>& edges, Size size,
                    std::int64_t radius, double threshold, std::vector<Circle>& out) {
  const std::vector<Offset> circle = circle_offsets(radius);
  const auto all = static_cast<double>(circle.size());
  std::vector<std::vector<Circle>> found(edges.size());
  for_each_shared(size.height, [&](std::int64_t y) {
    std::vector<std::int32_t> votes(static_cast<std::size_t>(size.width));
    for (const Offset& offset : circle) {
      const std::int64_t row = y + offset.y;
      if (row < 0 || row >= size.height) continue;
      for (const std::int64_t column : edges[static_cast<std::size_t>(row)]) {
        const std::int64_t x = column - offset.x;
        if (x >= 0 && x < size.width) ++votes[static_cast<std::size_t>(x)];
      }
    }
    for (std::int64_t x = 0; x < size.width; ++x) {
      const double score = votes[static_cast<std::size_t>(x)] / all;
      if (score >= threshold) found[static_cast<std::size_t>(y)].push_back({x, y, radius, score});
    }
  });
  for (const std::vector<Circle>& row : found) out.insert(out.end(), row.begin(), row.end());
}

struct CircleSearch {
  std::int64_t smallest = 0, largest = 0, count = 0;
  double threshold = 0, distance = 0, origin = 0;

  std::vector<double> rows(const Plane& edges) const {
    std::vector<Circle> candidates;
    const std::vector<std::vector<std::int64_t>> columns = edge_columns(edges);
    for (std::int64_t r = smallest; r <= largest; ++r) {
      add_candidates(columns, edges.size(), r, threshold, candidates);
    }
    std::ranges::sort(candidates, {},
                      [](const Circle& c) { return std::tuple(-c.score, c.radius, c.x, c.y); });
    std::vector<Circle> taken;
    for (const Circle& circle : candidates) {
      if (std::ssize(taken) == count) break;
      const auto is_near = [&](const Circle& other) {
        const std::int64_t x = circle.x - other.x, y = circle.y - other.y;
        return static_cast<double>(x * x + y * y) < distance * distance;
      };
      if (std::ranges::none_of(taken, is_near)) taken.push_back(circle);
    }
    std::vector<double> out;
    for (const Circle& circle : taken) {
      out.insert(out.end(),
                 {static_cast<double>(circle.x) + origin, static_cast<double>(circle.y) + origin,
                  static_cast<double>(circle.radius), circle.score});
    }
    return out;
  }
};

ImageValue lower_imfindcircles(const Call& call, PlanBuilder& plan) {
  const std::vector<double>& radii = call.numbers("radius");
  if (radii.back() < radii.front()) call.fail("radius", "the second radius is the larger one");
  CircleSearch search{.smallest = static_cast<std::int64_t>(radii.front()),
                      .largest = static_cast<std::int64_t>(radii.back()),
                      .count = static_cast<std::int64_t>(call.number("n")),
                      .threshold = call.number("threshold"),
                      .distance = radii.front(),
                      .origin = call.number("origin")};
  if (call.has("distance")) search.distance = call.number("distance");
  const ImageValue image = plan.current();
  plan.report_objects("imfindcircles", {.labels = image.id,
                                        .columns = {"X", "Y", "Radius", "Score"},
                                        .rows = [search](const Plane& edges, const Plane*) {
                                          return search.rows(edges);
                                        }});
  return image;
}

const RegisterOperator imfindcircles_operator{{
    .name = "imfindcircles",
    .help = "circles in an image of edges: a row for each",
    .category = "statistics",
    .parameters = {{.name = "radius",
                    .letter = 'r',
                    .help = "smallest,largest radius in pixels, whole; one number: only that",
                    .numbers = {.max_count = 2, .integer = true, .low = 1, .high = 10000},
                    .required = true},
                   {.name = "n",
                    .letter = 'n',
                    .help = "circles at most",
                    .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 1e6},
                    .fallback = "10"},
                   {.name = "threshold",
                    .help = "part of a circle's pixels that are edges, at least",
                    .numbers = {.max_count = 1, .low = 0, .high = 1},
                    .fallback = "0.5"},
                   {.name = "distance",
                    .help = "pixels between two centres at least; default the smallest radius",
                    .numbers = {.max_count = 1, .low = 0}},
                   origin_parameter("1")},
    .one_channel = true,
    .table = true,
    .details =
        R"(Takes edges, not a photograph: `edge canny | imfindcircles 10,20`. A circle of radius r is made of the
pixels whose distance from its centre, a pixel of the image, rounds to r; its score is the part of them
that are not 0 (pixels outside the image are 0). Circles of at least the threshold are
taken from the best on, of equal ones the smaller, then by x, then by y, unless their centre is nearer
than distance to that of one that was taken. Columns: X Y Radius Score. Rows go to stdout behind
the file's name; -o '{stem}.csv', '.tsv', '.json' or '.npy' writes them to a file. On the host.)",
    .example = "edge canny | imfindcircles 10,20",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "imfindcircles(A,[r1 r2]) (another method: there the picture itself, and centres "
              "between pixels)",
    .lower = lower_imfindcircles,
}};

}  // namespace
}  // namespace impipe::ops
