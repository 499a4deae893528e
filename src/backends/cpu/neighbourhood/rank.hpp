// How a rank filter is computed: the cheapest method for the mask, the rank, the class and the
// tile.
#pragma once

#include <vector>

#include "backends/cpu/tile/method.hpp"
#include "core/kernel_spec.hpp"

namespace impipe::cpu {

enum class RankMethod {
  median_3x3,  // of the full square; compiled networks
  median_5x5,
  columns,      // full rectangles: sorted columns are shared by the windows that hold them
  network,      // a selection network on the cells
  byte_counts,  // full rectangles of bytes: histograms of columns, summed
  tiles,        // values numbered tile by tile, and counts of buckets of them
  sliding,      // one histogram that the window carries along
};

struct RankQuestion {
  const Rank& rank;
  PixelClass cls;
  Size tile;  // of the results
  CpuLevel level;
};

// The methods that can make it, the cheapest first; never none.
std::vector<Offer<RankMethod>> rank_offers(const RankQuestion& question);

// The compiled network for a median of a square, if there is one.
std::optional<RankMethod> median_network(const Rank& rank);

}  // namespace impipe::cpu
