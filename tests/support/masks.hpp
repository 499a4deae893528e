// Masks that neighbourhood tests sweep over.
#pragma once

#include <random>

#include "core/kernel_spec.hpp"

namespace impipe::testing {

template <class Inside>
Mask mask_of(int width, int height, Inside inside) {
  Mask mask{.width = width,
            .height = height,
            .origin_x = (width - 1) / 2,
            .origin_y = (height - 1) / 2,
            .cells = {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      mask.cells.push_back(inside(x - mask.origin_x, y - mask.origin_y) ? 1 : 0);
    }
  }
  return mask;
}
inline Mask rectangle(int width, int height) {
  return mask_of(width, height, [](int, int) { return true; });
}
inline Mask disk(int r) {
  return mask_of(2 * r + 1, 2 * r + 1, [r](int x, int y) { return x * x + y * y <= r * r; });
}
inline Mask diamond(int r) {
  return mask_of(2 * r + 1, 2 * r + 1,
                 [r](int x, int y) { return (x < 0 ? -x : x) + (y < 0 ? -y : y) <= r; });
}
inline Mask diagonal(int side) {
  return mask_of(side, side, [](int x, int y) { return x == y; });
}
// Each cell set with this chance; the origin anywhere inside.
inline Mask random_mask(std::mt19937& random, int width, int height, double chance) {
  std::uniform_real_distribution<double> unit;
  Mask mask = mask_of(width, height, [&](int, int) { return unit(random) < chance; });
  mask.origin_x = static_cast<int>(random() % static_cast<unsigned>(width));
  mask.origin_y = static_cast<int>(random() % static_cast<unsigned>(height));
  return mask;
}

}  // namespace impipe::testing
