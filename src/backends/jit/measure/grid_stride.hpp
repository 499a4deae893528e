// A grid-stride loop over the pixels of an image: groups take bands of rows in turn.
#pragma once

#include <string>

#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

struct GridStride {
  Operand image;
  bool in_memory = false;  // a plane has its pixels: 16 bytes are read at once
  int items = 256;         // of a group
  // At most as many groups as give each work-item of `at_once` groups (Tuning::groups_at_once) this
  // many loads.
  int at_once = 512, loads = 64;

  bool wide(const Builder& builder) const { return builder.tuning().fast && in_memory; }
  std::int64_t groups_for(const LaunchContext& at, int values_a_load) const;
};

// Pixels of one load.
int values_a_load(const Builder& builder, const GridStride& stream);

// The loops: `chunk` is done with `v`, 16 bytes (uint4, or float4 of single), `pixel` with `p`, a
// pixel. c stands around them; a loop that is not wide has pixels only.
std::string grid_stride_rows(Builder& builder, const GridStride& stream, const std::string& chunk,
                             const std::string& pixel);

}  // namespace impipe::jit
