// Rank filters of the largest windows: one histogram that the window carries over a whole block.
#pragma once

#include "backends/cpu/neighbourhood/rank.hpp"
#include "backends/cpu/tile/neighbourhood.hpp"

namespace impipe::cpu {

// Any mask with a set cell, any class. A step of the window costs what its edge has cells, the
// start of a block all of its cells; beside them the search for a rank costs little.
void run_rank_sliding(const Rank& rank, PixelClass cls, const RowsView& in, TileOut out,
                      Scratch& scratch);
Cost rank_sliding_cost(const RankQuestion& question);

}  // namespace impipe::cpu
