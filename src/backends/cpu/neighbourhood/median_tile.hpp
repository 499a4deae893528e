// Medians of 3x3 and 5x5 windows, tile by tile.
#pragma once

#include "backends/cpu/tile/neighbourhood.hpp"

namespace impipe::cpu {

// T: of pixels, or std::int32_t of keys of floats. False: a row of floats has NaN, and not all is
// made.
template <class T>
bool run_median_3x3(const RowsView& in, TileOut out, Scratch& scratch, CpuLevel level);
// Of floats without NaN.
template <class T>
void run_median_5x5(const RowsView& in, TileOut out, Scratch& scratch, CpuLevel level);

// As knows_ends, of 3x3 and 5x5.
bool median_knows_ends(PixelClass cls, std::int64_t width, CpuLevel level);

}  // namespace impipe::cpu
