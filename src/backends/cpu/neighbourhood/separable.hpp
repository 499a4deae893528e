// How sums with separable weights are made: the cheapest method for the weights, the classes and
// the width of the tile.
#pragma once

#include <vector>

#include "backends/cpu/tile/arguments.hpp"
#include "backends/cpu/tile/border_view.hpp"
#include "backends/cpu/tile/method.hpp"

namespace impipe::cpu {

enum class SeparableMethod {
  small_box,    // odd boxes of bytes, in 16 bits
  running_box,  // boxes of integers: running sums of columns and along the row
  bytes,        // bytes to bytes, four vectors at a time
  floats,       // rows of float32
};

struct SeparableQuestion {
  const Node& node;
  const Arguments& arguments;
  PixelClass in;
  std::int64_t width;  // of the tile
  CpuLevel level;
};

// The methods that can make it, the cheapest first; never none.
std::vector<Offer<SeparableMethod>> separable_offers(const SeparableQuestion& question);

}  // namespace impipe::cpu
