// Weighted sums over taps: what convolution is.
#pragma once

#include <cstdint>

#include "core/body.hpp"

namespace impipe::cpu {

// out[i] = fma over the taps in order into 0: weights[k] * taps[k][i].
void weighted_sum(float* out, const float* const* taps, const float* weights, int count,
                  std::int64_t n, CpuLevel level);

}  // namespace impipe::cpu
