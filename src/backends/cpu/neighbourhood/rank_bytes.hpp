// Ranks of bytes in large rectangles: counts of columns, summed, at a cost that does not grow with
// the window.
#pragma once

#include "backends/cpu/tile/neighbourhood.hpp"

namespace impipe::cpu {

// Whether run_rank_bytes takes this filter of bytes.
bool has_rank_bytes(const Rank& rank, CpuLevel level);
void run_rank_bytes(const Rank& rank, const RowsView& in, TileOut out, Scratch& scratch,
                    CpuLevel level);

}  // namespace impipe::cpu
