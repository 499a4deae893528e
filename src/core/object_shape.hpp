// The columns that a table of objects may have beside those of object_table.hpp: of hulls, of
// filled holes, of Feret's diameters and percentiles.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "core/plan.hpp"

namespace impipe {

// ConvexArea FilledArea Circularity MaxFeretDiameter MaxFeretAngle MinFeretDiameter MinFeretAngle
std::vector<std::string> shape_columns();

// The column of a percentile of an object's intensities: Percentile50.
std::string percentile_column(double percent);

// Whether any of these columns is measured on the image of labels, or with it on that of
// intensities.
bool needs_labels(std::span<const std::string> columns);
bool needs_intensities(std::span<const std::string> columns);

// The images of a table, each null where it is not needed.
struct ObjectImages {
  const Plane* labels = nullptr;
  const Plane* intensities = nullptr;
};
// [objects][table.columns] of rows of object_columns.
std::vector<double> chosen_columns(std::span<const double> rows, const ObjectTable& table,
                                   const ObjectImages& images);

}  // namespace impipe
