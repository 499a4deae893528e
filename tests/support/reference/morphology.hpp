// Naive dilation and erosion, after semantics 7.2: what the fast ones are compared with.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/kernel_spec.hpp"

namespace impipe::reference {

// Interleaved pixels of any class, as doubles.
struct Pixels {
  std::int64_t width = 0, height = 0;
  int channels = 1;
  std::vector<double> values;
  double& at(std::int64_t x, std::int64_t y, int c) {
    return values[static_cast<std::size_t>((y * width + x) * channels + c)];
  }
  double at(std::int64_t x, std::int64_t y, int c) const {
    return values[static_cast<std::size_t>((y * width + x) * channels + c)];
  }
};

// Pixels outside the image and NaN take no part; `nothing` is the value of an empty window.
inline Pixels extremum(const Pixels& in, const Mask& mask, bool largest, double nothing) {
  Pixels out = in;
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (std::int64_t x = 0; x < in.width; ++x) {
      for (int c = 0; c < in.channels; ++c) {
        double best = nothing;
        for (int j = 0; j < mask.height; ++j) {
          for (int i = 0; i < mask.width; ++i) {
            const std::int64_t from_x = x + i - mask.origin_x, from_y = y + j - mask.origin_y;
            if (!mask.at(i, j) || from_x < 0 || from_x >= in.width || from_y < 0 ||
                from_y >= in.height) {
              continue;
            }
            const double value = in.at(from_x, from_y, c);
            if (largest ? value > best : value < best) best = value;
          }
        }
        out.at(x, y, c) = best;
      }
    }
  }
  return out;
}

}  // namespace impipe::reference
