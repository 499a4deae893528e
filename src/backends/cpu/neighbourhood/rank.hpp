// How a rank filter is computed: decided from the mask, the rank and the class.
#pragma once

#include "core/kernel_spec.hpp"

namespace impipe::cpu {

enum class RankMethod {
  median_3x3,  // of the full square; compiled networks
  median_5x5,
  columns,      // full rectangles: sorted columns are shared by the windows that hold them
  network,      // a selection network on the cells
  byte_counts,  // of full rectangles: counts of columns, summed
  histogram,    // counts of numbered values that follow the window
};
RankMethod rank_method(const Rank& rank, PixelClass cls, CpuLevel level);

}  // namespace impipe::cpu
