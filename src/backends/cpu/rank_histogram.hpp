// Rank filters of large windows: a histogram that follows the window along a row.
#pragma once

#include "backends/cpu/neighbourhood.hpp"

namespace impipe::cpu {

// Any mask with a set cell, any class.
void run_rank_histogram(const Rank& rank, PixelClass cls, const RowsView& in, TileOut out,
                        Scratch& scratch);

}  // namespace impipe::cpu
