// The tiles that a stencil by Fourier transforms makes its image of, and the numbers that every
// backend needs.
//
// A tile makes (side - columns + 1) x (side - rows + 1) pixels from side x side. Two tiles, one
// behind the other in the order of rows, are the real and imaginary parts of one transform, since
// the weights are real; the last may be alone. Their spectrum is multiplied by that of the weights,
// which lie in a tile turned around its corner and divided by side^2. Columns are transformed
// first, then rows, forward and back.
//
// A transform takes its numbers in stages of eights, before which stand one of twos where the side
// is no power of eight; docs/decisions/0064-large-kernels-by-fourier-transforms.md says in which
// order. All is float32, no product is contracted with a sum.
#pragma once

#include <span>
#include <vector>

#include "core/kernel_spec.hpp"

namespace impipe {

// A pixel whose magnitude is not at most this does not take part: where one lies in a pair of
// tiles, both are summed weight by weight, as a stencil is.
inline constexpr float largest_in_fourier = 0x1p64f;

struct FourierTiles {
  std::int64_t width = 0, height = 0;  // of the pixels that a tile makes
  std::int64_t across = 0, count = 0;  // tiles beside each other; all
  std::int64_t pairs() const { return (count + 1) / 2; }
};
FourierTiles fourier_tiles(const Stencil& stencil, Size result);

// The side of the tiles for so many columns and rows of weights; 0: they are too many.
int fourier_side(int columns, int rows);

// Whether that is to be done with a kernel that is not of rank 1: its size and how many weights are
// not 0. It pays where these make more work than a few transforms do.
bool pays_by_fourier(int columns, int rows, int terms);

// exp(-2 pi i k / side), k < side, each as its real and imaginary part.
std::span<const float> fourier_factors(int side);

}  // namespace impipe
