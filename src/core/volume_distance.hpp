// Distances in volumes.
#pragma once

#include "core/volume.hpp"

namespace impipe {

// The exact Euclidean distance of each voxel's centre from that of the nearest voxel that is not 0,
// Inf where there is none; single without a white. spacing: of rows, columns and planes.
Volume distance_volume(PerAxis<double> spacing);

}  // namespace impipe
