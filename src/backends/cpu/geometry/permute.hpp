// Flips and transposition of a tile.
#pragma once

#include "backends/cpu/tile/neighbourhood.hpp"
#include "backends/cpu/tile/tile_image.hpp"

namespace impipe::cpu {

// Makes the rectangle `region` of the result.
void run_permute(const Permute& permute, const TileImage& in, const Region& region, TileOut out,
                 CpuLevel level);

}  // namespace impipe::cpu
