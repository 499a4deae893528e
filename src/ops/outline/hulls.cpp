// convexhull and bwconvhull: convex hulls of objects, as their vertices and as a mask.
#include "core/hull.hpp"

#include <algorithm>

#include "ops/images.hpp"
#include "ops/outline/outline.hpp"

namespace impipe::ops {
namespace {

std::vector<double> hull_rows(const Plane& labels, double origin) {
  std::vector<double> rows;
  for (const ObjectSpans& object : object_spans(labels)) {
    std::vector<Place> hull = convex_hull(side_points(object.rows));
    hull.push_back(hull.front());
    double index = 0;
    for (const Place& place : hull) {
      rows.insert(rows.end(), {object.label, ++index, static_cast<double>(place.x) / 2 + origin,
                               static_cast<double>(place.y) / 2 + origin});
    }
  }
  return rows;
}

void fill_hulls(const Plane& labels, bool together, Plane& mask) {
  for (std::int64_t y = 0; y < mask.size().height; ++y) {
    std::fill_n(mask.row_as<std::uint8_t>(y), mask.size().width, std::uint8_t{0});
  }
  const auto fill = [&](const std::vector<RowSpan>& rows) {
    if (rows.empty()) return;
    each_hull_row(
        convex_hull(side_points(rows)), [&](std::int64_t y, std::int64_t left, std::int64_t right) {
          std::fill_n(mask.row_as<std::uint8_t>(y) + left, right - left + 1, std::uint8_t{1});
        });
  };
  std::vector<RowSpan> all;
  for (const ObjectSpans& object : object_spans(labels)) {
    if (together) {
      all.insert(all.end(), object.rows.begin(), object.rows.end());
    } else {
      fill(object.rows);
    }
  }
  fill(all);
}

const RegisterOperator convexhull_operator{{
    .name = "convexhull",
    .help = "the vertices of the convex hull of each object",
    .category = "statistics",
    .parameters = {connectivity_parameter("8"), origin_parameter("1")},
    .one_channel = true,
    .table = true,
    .details =
        R"(Objects of a logical image are numbered as bwlabel does, with conn; the values of others are labels
(0 and below are background). The hull is that of the middles of the pixels' sides, (x +- 1/2, y) and
(x, y +- 1/2); its vertices, none in the middle of a side, go clockwise on the screen from the leftmost
(of those the uppermost), which is the last row again. Columns: Object Index X Y.
Rows go to stdout behind the file's name, or with -o '{stem}.csv', '.tsv', '.json' or '.npy' to a file;
-o '{stem}.geojson' writes a Polygon for each object. Components on the device, hulls on the host.)",
    .example = "imbinarize | convexhull origin=0",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::other,
                   "not 0, as objects are, where components are counted; labels hold no NaN"},
    .matlab = "regionprops(BW,'ConvexHull') (same, in one table)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const ImageValue image = plan.current();
          const double origin = call.number("origin");
          plan.report_objects("convexhull", {.labels = labelled(call, plan, image).id,
                                             .columns = {"Object", "Index", "X", "Y"},
                                             .rows = [origin](const Plane& labels, const Plane*) {
                                               return hull_rows(labels, origin);
                                             }});
          return image;
        },
}};

const RegisterOperator bwconvhull_operator{{
    .name = "bwconvhull",
    .help = "the convex hull of all objects, or of each, filled",
    .category = "morphology",
    .parameters = {{.name = "method",
                    .help = "union: one hull of all pixels; objects: one of each object",
                    .words = {"union", "objects"},
                    .fallback = "union"},
                   connectivity_parameter("8")},
    .one_channel = true,
    .details =
        R"(The pixels whose centres lie in or on the hull that convexhull has, of all objects' pixels or of each
object's. Objects of a logical image are its components, by conn; the values of others are labels (0
and below are background). The result is logical. Components on the device, hulls on the host.)",
    .example = "imbinarize | bwconvhull objects",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::other,
                   "not 0, as objects are, where components are counted; labels hold no NaN"},
    .matlab = "bwconvhull(BW,method,conn) (there hulls are drawn otherwise: about 1 % of small "
              "objects' pixels differ)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          plan.drop_alpha();
          const bool together = call.word("method") == "union";
          const ImageValue image = plan.current();
          return on_host(call, plan, {together ? image : labelled(call, plan, image)},
                         logical_result,
                         {.make = [together](std::span<const Planes> images, Planes& mask) {
                           fill_hulls(images.front().front(), together, mask.front());
                         }});
        },
}};

}  // namespace
}  // namespace impipe::ops
