// Fourier transforms of sixteen lines side by side.
#pragma once

#include "core/body.hpp"

namespace impipe::cpu {

inline constexpr int fourier_lines = 16;

// The transform of `side` numbers of each line, core/fourier_tiles.hpp's: number k of line i at
// k * fourier_lines + i, re and im apart; other_re, other_im: as many, that it may use. Returns
// whether the result lies in those. With re and im taken for each other it is the inverse, but for
// a factor.
bool fourier_transform(int side, const float* factors, float* re, float* im, float* other_re,
                       float* other_im, CpuLevel level);

// Each of n numbers times that of the spectrum.
void fourier_product(float* re, float* im, const float* spectrum_re, const float* spectrum_im,
                     int n, CpuLevel level);

}  // namespace impipe::cpu
