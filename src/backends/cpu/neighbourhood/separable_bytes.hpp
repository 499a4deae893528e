// Separable sums of gray bytes to bytes.
#pragma once

#include "backends/cpu/tile/arguments.hpp"
#include "backends/cpu/tile/border_view.hpp"
#include "core/body.hpp"

namespace impipe::cpu {

// Runs a separable node if this way can; the same codes as any other way.
bool run_separable_bytes(const Node& node, const Arguments& arguments, const TileImage& in,
                         const Region& region, TileOut out, Scratch& scratch, CpuLevel level);

}  // namespace impipe::cpu
