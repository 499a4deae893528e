// The connected components of volumes: their labels, and a table of them.
#pragma once

#include "core/volume.hpp"

namespace impipe {

// conn: 6 (faces), 18 (and edges) or 26 (and corners). Voxels that are not 0 belong to components,
// which are numbered in the order of their first voxels down the columns, from left to right, plane
// after plane. The result is single and has no white.
Volume label_volume(int conn);

// Logical volumes are labelled; the values of others are labels, of which those above 0 are
// objects. With intensities volumes are single, with a second channel that has them, and with a
// white of 0 where the first has labels, else 1. origin: the number of the first row, column and
// plane.
Volume object_table_volume(int conn, double origin, bool intensities);

}  // namespace impipe
