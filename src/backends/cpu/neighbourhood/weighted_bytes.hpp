// Weighted means of bytes whose weights depend on how far apart two bytes are.
#pragma once

#include "backends/cpu/tile/arguments.hpp"
#include "backends/cpu/tile/border_view.hpp"
#include "core/body.hpp"

namespace impipe::cpu {

// Runs a stencil node if this way can; the same codes as any other way.
bool run_weighted_bytes(const Node& node, const Arguments& arguments, const TileImage& in,
                        const Region& region, TileOut out, Scratch& scratch, CpuLevel level);

}  // namespace impipe::cpu
