// Weighted means whose weights depend on how far apart two values are, by pairs of pixels.
#pragma once

#include "backends/cpu/tile/arguments.hpp"
#include "backends/cpu/tile/border_view.hpp"
#include "core/body.hpp"

namespace impipe::cpu {

// Runs a stencil node if this way can; the same numbers as any other way.
bool run_weighted_mean(const Node& node, const Arguments& arguments, const TileImage& in,
                       const Region& region, TileOut out, Scratch& scratch, CpuLevel level);

}  // namespace impipe::cpu
