// The columns that a table of objects may have beside those of object_table.hpp: of hulls, of
// filled holes and of Feret's diameters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/image.hpp"

namespace impipe {

// ConvexArea FilledArea Circularity MaxFeretDiameter MaxFeretAngle MinFeretDiameter MinFeretAngle
std::vector<std::string> shape_columns();

// Whether any of these columns is measured on the image of labels.
bool needs_labels(std::span<const std::string> columns);

// [objects][wanted] of rows of `columns`, those of object_columns, by semantics-3.md 2.5. labels:
// the image, or null where it is not needed.
std::vector<double> chosen_columns(std::span<const double> rows,
                                   const std::vector<std::string>& columns,
                                   const std::vector<std::string>& wanted, const Plane* labels);

}  // namespace impipe
