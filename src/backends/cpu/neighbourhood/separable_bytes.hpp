// Separable sums of gray bytes to bytes.
#pragma once

#include "backends/cpu/neighbourhood/separable.hpp"

namespace impipe::cpu {

// Whether a separable node can be run by blocks of bytes; the same codes as by any other method.
bool has_separable_bytes(const SeparableQuestion& question);

void run_separable_bytes(const Node& node, const Arguments& arguments, const TileImage& in,
                         const Region& region, TileOut out, Scratch& scratch, CpuLevel level);

}  // namespace impipe::cpu
