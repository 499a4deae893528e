// Fourier transforms of sixteen lines side by side, for each instruction set.
#include "backends/cpu/transform/fourier_lines.hpp"

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

#define IMPIPE_KERNELS "backends/cpu/transform/fourier_lines.inc"
#include "backends/cpu/simd/each_level.inc"

}  // namespace

bool fourier_transform(int side, const float* factors, float* re, float* im, float* other_re,
                       float* other_im, CpuLevel level) {
  return IMPIPE_AT_LEVEL(level, transform)(side, factors, re, im, other_re, other_im);
}

void fourier_product(float* re, float* im, const float* spectrum_re, const float* spectrum_im,
                     int n, CpuLevel level) {
  IMPIPE_AT_LEVEL(level, product)(re, im, spectrum_re, spectrum_im, n);
}

}  // namespace impipe::cpu
