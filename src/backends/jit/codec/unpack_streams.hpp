// Inflating of long streams: the passes before a picture's rows are known.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backends/jit/codec/unpack_parameters.hpp"
#include "backends/jit/program/program.hpp"

namespace impipe::jit {

// The kernels of the passes.
std::vector<std::string> stream_entries();

struct StreamBuffers {
  Buffer data, unpacked, status;
};
struct StreamPlan {
  std::vector<Scratch> scratch;
  std::vector<Pass> passes;
  Buffer state;  // what inflate_chunks is to know of it
};
// first_entry: the place of stream_entries in the program; first_scratch: of the plan's scratch
// memory in the launch's.
StreamPlan inflate_streams(std::span<const PackedPicture* const> pictures,
                           const UnpackParameters& parameters, const StreamBuffers& buffers,
                           int first_entry, int first_scratch);

}  // namespace impipe::jit
