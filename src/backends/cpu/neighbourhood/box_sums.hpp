// Box sums of integer pixels: small boxes add up columns, larger ones keep running sums.
#pragma once

#include "backends/cpu/neighbourhood/separable.hpp"

namespace impipe::cpu {

// Whether a separable node is a box for which these have the bits of any other method.
bool has_small_box(const SeparableQuestion& question);
bool has_running_box(const SeparableQuestion& question);

void run_small_box(const Node& node, const Arguments& arguments, const TileImage& in,
                   const Region& region, TileOut out, Scratch& scratch, CpuLevel level);
void run_running_box(const Node& node, const Arguments& arguments, const TileImage& in,
                     const Region& region, TileOut out, Scratch& scratch, CpuLevel level);

}  // namespace impipe::cpu
