// The tiles that a Fourier node makes its image of.
#include "core/fourier_tiles.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace impipe {
namespace {

constexpr int sides[] = {512, 1024};
// A tile of the smaller side makes at least a half of its pixels then, and one of the larger a
// seventh.
constexpr int longest[] = {152, 640};

std::vector<float> factors_of(int side) {
  std::vector<float> out;
  for (int k = 0; k < side; ++k) {
    const double angle = -2 * std::numbers::pi * k / side;
    out.push_back(static_cast<float>(std::cos(angle)));
    out.push_back(static_cast<float>(std::sin(angle)));
  }
  // Quarters are exact.
  out[2 * (side / 4)] = out[2 * (3 * side / 4)] = out[2 * (side / 2) + 1] = 0;
  return out;
}

}  // namespace

FourierTiles fourier_tiles(const Stencil& stencil, Size result) {
  FourierTiles tiles;
  tiles.width = stencil.fourier_side - stencil.taps.width + 1;
  tiles.height = stencil.fourier_side - stencil.taps.height + 1;
  tiles.across = (result.width + tiles.width - 1) / tiles.width;
  tiles.count = tiles.across * ((result.height + tiles.height - 1) / tiles.height);
  return tiles;
}

int fourier_side(int columns, int rows) {
  const int longer = std::max(columns, rows);
  return longer <= longest[0] ? sides[0] : longer <= longest[1] ? sides[1] : 0;
}

bool pays_by_fourier(int columns, int rows, int terms) {
  // GPUs sum weight by weight over the rectangle, whatever lies in it.
  const bool many = terms >= 576 || (terms >= 192 && std::int64_t{columns} * rows >= 2560);
  return many && fourier_side(columns, rows) > 0;
}

std::span<const float> fourier_factors(int side) {
  static const std::vector<float> small = factors_of(sides[0]), large = factors_of(sides[1]);
  return side == sides[0] ? small : large;
}

}  // namespace impipe
