// The levels of mip and rip maps: pictures of half the width, half the height or both.
#pragma once

#include <cstdint>
#include <vector>

#include "core/image.hpp"

namespace impipe::io {

// The channels of a picture as floats.
struct ExrLevel {
  struct Channel {
    const float* pixels = nullptr;
    std::int64_t stride = 0;    // floats from row to row
    std::vector<float> memory;  // of its own pixels, or empty
    const float* row(std::int64_t y) const { return pixels + y * stride; }
  };
  Size size;
  std::vector<Channel> channels;
};

// A smaller one, each pixel the mean of the part of `from` that it covers; of channels for which
// `means` is false the value in the middle of that.
ExrLevel reduced(const ExrLevel& from, Size size, const std::vector<bool>& means);

}  // namespace impipe::io
