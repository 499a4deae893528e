// How a rank filter is computed: decided from the mask alone.
#pragma once

#include "core/kernel_spec.hpp"

namespace impipe::cpu {

enum class RankMethod {
  columns,    // full rectangles: columns sorted once and shared by the windows that hold them
  network,    // a selection network on the cells
  histogram,  // a histogram of codes that follows the window
};
RankMethod rank_method(const Mask& mask);

// Values that an interpreted network works on at a time, in bytes.
inline constexpr int network_chunk_bytes = 512;

}  // namespace impipe::cpu
