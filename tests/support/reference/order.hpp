// The naive rank filter, after semantics 5.1 and 5.2: what the fast ones are compared with.
#pragma once

#include <algorithm>
#include <cmath>

#include "support/reference/morphology.hpp"

namespace impipe::reference {

// In ascending order, NaN last.
inline void sort_window(std::vector<double>& window) {
  const auto numbers =
      std::partition(window.begin(), window.end(), [](double v) { return !std::isnan(v); });
  std::sort(window.begin(), numbers);
}

// outside(x, y, c) gives the values round the image. `average`: the mean of the rank-th and the
// next, for integer classes rounded half away.
template <class Outside>
Pixels rank_filter(const Pixels& in, const Mask& mask, int rank, bool average, bool integer,
                   Outside outside) {
  Pixels out = in;
  std::vector<double> window;
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (std::int64_t x = 0; x < in.width; ++x) {
      for (int c = 0; c < in.channels; ++c) {
        window.clear();
        for (int j = 0; j < mask.height; ++j) {
          for (int i = 0; i < mask.width; ++i) {
            if (!mask.at(i, j)) continue;
            const std::int64_t from_x = x + i - mask.origin_x, from_y = y + j - mask.origin_y;
            const bool inside =
                from_x >= 0 && from_x < in.width && from_y >= 0 && from_y < in.height;
            window.push_back(inside ? in.at(from_x, from_y, c) : outside(from_x, from_y, c));
          }
        }
        sort_window(window);
        double value = window[static_cast<std::size_t>(rank)];
        if (average) {
          const double next = window[static_cast<std::size_t>(rank) + 1];
          value = integer ? std::round((value + next) / 2)
                          : static_cast<double>(static_cast<float>(value + next) / 2);
        }
        out.at(x, y, c) = value;
      }
    }
  }
  return out;
}

}  // namespace impipe::reference
