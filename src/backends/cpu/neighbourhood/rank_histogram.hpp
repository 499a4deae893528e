// Rank filters of large windows: counts of the values' buckets that follow the window.
#pragma once

#include "backends/cpu/neighbourhood/rank.hpp"
#include "backends/cpu/tile/neighbourhood.hpp"

namespace impipe::cpu {

// Any mask with a set cell that fits a tile, any class. The cost of a full rectangle hardly grows
// with its sides as long as tiles hold enough of its windows, that of another mask grows with its
// number of runs; neither depends on what the picture shows, but for small factors.
void run_rank_tiles(const Rank& rank, PixelClass cls, const RowsView& in, TileOut out,
                    Scratch& scratch, CpuLevel level);
Cost rank_tiles_cost(const RankQuestion& question);

}  // namespace impipe::cpu
