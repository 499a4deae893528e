// Affine maps in vectors.
#pragma once

#include "backends/cpu/geometry/resample_rows.hpp"

namespace impipe::cpu {

// As warp_row(cls, false, level) does it, with the same bits.
void warp_in_vectors(const AffineRow& row, PixelClass cls, CpuLevel level, float* out);

// The byte offsets in the input, below 2^31, of the pixels that output pixels [begin, n) are
// nearest to; -1 outside. Whether none is outside. `data` and `outside` are not read.
bool nearest_offsets(const AffineRow& row, int pixel_bytes, CpuLevel level, std::int32_t* offsets);

}  // namespace impipe::cpu
