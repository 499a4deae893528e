// Means of bytes over large rectangles, at a cost that hardly grows with the rectangle.
#pragma once

#include "backends/cpu/tile/arguments.hpp"
#include "backends/cpu/tile/border_view.hpp"
#include "core/body.hpp"

namespace impipe::cpu {

// Runs a separable node if this way can; the same codes as any other way.
bool run_box_bytes(const Node& node, const Arguments& arguments, const TileImage& in,
                   const Region& region, TileOut out, Scratch& scratch, CpuLevel level);

}  // namespace impipe::cpu
