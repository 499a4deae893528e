// Bilinear affine maps in vectors.
#pragma once

#include "backends/cpu/geometry/resample_rows.hpp"

namespace impipe::cpu {

// As warp_row(cls, false, level) does it, with the same bits.
void warp_bilinear(const AffineRow& row, PixelClass cls, CpuLevel level, float* out);

}  // namespace impipe::cpu
