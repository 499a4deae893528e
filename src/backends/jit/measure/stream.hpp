// A pass over all pixels of an image by groups that take bands of rows in turn.
#pragma once

#include <functional>
#include <string>

#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

struct Stream {
  Operand image;
  int items = 256;  // of a group
  // At most as many groups as give each work-item of `at_once` groups (Tuning::groups_at_once) this
  // many loads.
  int at_once = 512, loads = 64;

  // Whether 16 bytes are read at once: of a plane in memory.
  bool wide(const Builder& to) const;
  std::int64_t groups_for(const LaunchContext& at, int values_a_load) const;
};

// Pixels of one load.
int values_a_load(const Builder& to, const Stream& stream);

// The loops: `chunk` is done with `v`, 16 bytes (uint4, or float4 of single), `pixel` with `p`, a
// pixel. c stands around them; a stream that is not wide has pixels only.
std::string stream_rows(Builder& to, const Stream& stream, const std::string& chunk,
                        const std::string& pixel);

}  // namespace impipe::jit
