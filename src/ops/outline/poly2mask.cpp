// poly2mask and roipoly: the mask of polygons.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text_file.hpp"
#include "ops/images.hpp"
#include "ops/outline/geojson.hpp"
#include "ops/outline/outline.hpp"
#include "ops/source/source_image.hpp"

namespace impipe::ops {
namespace {

std::vector<Polygon> polygon_of(const Call& call, const Matrix& vertices) {
  if (vertices.columns != 2) {
    call.fail("vertices", "a vertex is a row of two numbers, x,y: [2,2; 10,2; 10,8]");
  }
  Ring ring;
  for (std::size_t i = 0; i < vertices.values.size(); i += 2) {
    ring.emplace_back(vertices.values[i], vertices.values[i + 1]);
  }
  return {{ring}};
}

std::vector<Polygon> polygons_of(const Call& call) {
  const ParameterValue& value = call.value("vertices");
  if (value.matrix) return polygon_of(call, *value.matrix);
  if (value.path.empty()) {
    call.fail("vertices", "vertices are [x,y; x,y; ..] or @file, not '" + value.word + "'");
  }
  try {
    const std::string text = read_text_once(value.path);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != text.npos && text[first] == '{') return read_polygons(text, value.path);
    return polygon_of(call, parse_matrix(text, value.path, std::numeric_limits<int>::max()));
  } catch (const Error& error) {
    call.fail("vertices", error.what());
  }
}

// Even-odd: a pixel is inside where an odd number of sides lie to its right.
class Fill {
 public:
  Fill(const Polygon& polygon, double origin, Plane& mask) : mask_(mask), origin_(origin) {
    const auto low = [](double value) { return std::max(0.0, std::floor(value)); };
    double left = static_cast<double>(mask.size().width), right = 0;
    for (const Ring& ring : polygon) {
      for (const auto& [x, y] : ring) {
        left = std::min(left, low(x - origin));
        right = std::max(right, x - origin);
      }
    }
    begin_ = static_cast<std::int64_t>(left);
    end_ = static_cast<std::int64_t>(
        std::min<double>(static_cast<double>(mask.size().width), low(right) + 1));
    if (begin_ >= end_) return;
    for (const Ring& ring : polygon) count_rows(ring);
    if (top_ >= bottom_) return;
    flips_.resize(static_cast<std::size_t>((bottom_ - top_) * (end_ - begin_)));
    for (const Ring& ring : polygon) add_sides(ring);
    write();
  }

 private:
  // Rows whose centres lie between the ends of a side, the upper one counted.
  std::pair<std::int64_t, std::int64_t> rows_of(double y1, double y2) const {
    const auto height = static_cast<double>(mask_.size().height);
    const auto row = [&](double y) {
      return static_cast<std::int64_t>(std::clamp(std::ceil(y), 0.0, height));
    };
    return {row(std::min(y1, y2)), row(std::max(y1, y2))};
  }
  void count_rows(const Ring& ring) {
    for (const auto& [x, y] : ring) {
      const std::int64_t row = rows_of(y - origin_, y - origin_).first;
      top_ = std::min(top_, row);
      bottom_ = std::max(bottom_, row);
    }
  }
  void add_sides(const Ring& ring) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const auto& a = ring[i];
      const auto& b = ring[(i + 1) % ring.size()];
      const double x1 = a.first - origin_, y1 = a.second - origin_;
      const double x2 = b.first - origin_, y2 = b.second - origin_;
      const auto [from, to] = rows_of(y1, y2);
      for (std::int64_t y = from; y < to; ++y) {
        add_crossing(y, x1 + (static_cast<double>(y) - y1) * (x2 - x1) / (y2 - y1));
      }
    }
  }
  // Pixels to the left of x turn over: the last of them is noted.
  void add_crossing(std::int64_t y, double x) {
    if (!(x > static_cast<double>(begin_))) return;
    const double last = std::min(std::ceil(x) - 1, static_cast<double>(end_ - 1));
    flips_[static_cast<std::size_t>((y - top_) * (end_ - begin_)) + static_cast<std::size_t>(last) -
           static_cast<std::size_t>(begin_)] ^= 1;
  }
  void write() {
    const std::int64_t width = end_ - begin_;
    for (std::int64_t y = top_; y < bottom_; ++y) {
      const std::uint8_t* flips = flips_.data() + (y - top_) * width;
      std::uint8_t* row = mask_.row_as<std::uint8_t>(y) + begin_;
      std::uint8_t inside = 0;
      for (std::int64_t x = width; x-- > 0;) {
        inside ^= flips[x];
        row[x] |= inside;
      }
    }
  }

  Plane& mask_;
  const double origin_;
  std::int64_t begin_ = 0, end_ = 0;  // columns of the polygon
  std::int64_t top_ = std::numeric_limits<std::int64_t>::max(), bottom_ = 0;
  std::vector<std::uint8_t> flips_;
};

void make_mask(const std::vector<Polygon>& polygons, double origin, Plane& mask) {
  for (std::int64_t y = 0; y < mask.size().height; ++y) {
    std::fill_n(mask.row_as<std::uint8_t>(y), mask.size().width, std::uint8_t{0});
  }
  for (const Polygon& polygon : polygons) Fill(polygon, origin, mask);
}

Parameter vertices_parameter() {
  return {.name = "vertices",
          .help = "[x,y; x,y; ..], or @file: such rows, or the polygons of a GeoJSON",
          .takes = Takes::kernel,
          .required = true};
}

constexpr std::string_view rule =
    R"(A pixel belongs to the mask where its centre (x, y) lies inside by the even-odd rule; the last vertex is
joined to the first. Left and upper sides belong to it, right and lower ones do not, so polygons that
share a side share no pixel. origin is the number of the first row and column. Fewer than 3 vertices:
an empty mask. @file holds a row x y a vertex, or GeoJSON: Polygon, MultiPolygon, Feature,
FeatureCollection or GeometryCollection, whose polygons with their holes are united; that of polygonize
with the same origin gives its mask back.)";

const RegisterOperator poly2mask_operator{{
    .name = "poly2mask",
    .help = "the mask of a polygon, or of those in a GeoJSON file",
    .category = "source",
    .parameters = {vertices_parameter(), size_parameter(true), origin_parameter("0")},
    .details = rule,
    .example = "poly2mask [3,2; 30,9; 12,24] size=30,36",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::none},
    .matlab =
        "poly2mask(x,y,m,n) (there on a grid of fifths of a pixel: pixels along the sides may "
        "differ; origin=1)",
    .describe =
        [](const Call& call) {
          return MadeImage{{.cls = PixelClass::logical, .channels = 1, .white = 1},
                           size_argument(call)};
        },
    .make =
        [](const Call& call) {
          HostImage image({.cls = PixelClass::logical, .channels = 1, .white = 1},
                          size_argument(call));
          make_mask(polygons_of(call), call.number("origin"), image.planes.front());
          return image;
        },
}};

const RegisterOperator roipoly_operator{{
    .name = "roipoly",
    .help = "the mask of a polygon, of the current image's size",
    .category = "morphology",
    .parameters = {vertices_parameter(), origin_parameter("0")},
    .details = rule,
    .example = "roipoly [3,2; 30,9; 12,24]",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::none},
    .matlab = "roipoly(I,x,y) (there on a grid of fifths of a pixel: pixels along the sides may "
              "differ; origin=1)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          plan.drop_alpha();
          const double origin = call.number("origin");
          const auto make = [polygons = polygons_of(call), origin](std::span<const Planes>,
                                                                   Planes& mask) {
            make_mask(polygons, origin, mask.front());
          };
          return on_host(call, plan, {plan.current()},
                         {.cls = PixelClass::logical, .white = 1, .channels = 1}, {.make = make});
        },
}};

}  // namespace
}  // namespace impipe::ops
