// Rank filters over wide pixels on a device: groups sort tiles, so that counts of some places in
// the order find a value of any class.
#pragma once

#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// The kernel that makes node n and stores it. Its image is an input or stored.
void write_rank_tiles(Builder& to, int n);
// The same for larger windows: kernels that sort blocks, and that join them.
void write_rank_blocks(Builder& to, int n);

}  // namespace impipe::jit
