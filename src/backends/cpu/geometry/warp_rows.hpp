// Affine maps in vectors.
#pragma once

#include "backends/cpu/geometry/resample_rows.hpp"

namespace impipe::cpu {

// As warp_row(cls, nearest, level) does it, with the same bits.
void warp_in_vectors(const AffineRow& row, PixelClass cls, bool nearest, CpuLevel level,
                     float* out);

}  // namespace impipe::cpu
