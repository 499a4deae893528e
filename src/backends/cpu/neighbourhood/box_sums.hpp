// Sums of codes over rectangles, at a cost that does not grow with the rectangle.
#pragma once

#include "backends/cpu/tile/arguments.hpp"
#include "backends/cpu/tile/border_view.hpp"
#include "core/body.hpp"

namespace impipe::cpu {

// Runs a separable node if this way can; the same bits as any other way.
bool run_box_sums(const Node& node, const Arguments& arguments, const TileImage& in,
                  const Region& region, TileOut out, Scratch& scratch, CpuLevel level);

}  // namespace impipe::cpu
