// Reads polygons from GeoJSON (RFC 7946).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace impipe::ops {

using Ring = std::vector<std::pair<double, double>>;  // x, y
using Polygon = std::vector<Ring>;                    // the exterior and holes

// All polygons of a text, whatever holds them: a FeatureCollection, a Feature, a
// GeometryCollection, a MultiPolygon or a Polygon. Geometries of other types and what is no JSON
// are an Error, which begins with `name`.
std::vector<Polygon> read_polygons(std::string_view text, const std::string& name);

}  // namespace impipe::ops
