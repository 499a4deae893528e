// Weighted sums over taps: what convolution is. Each result is a chain of fma into 0, taps in
// row-major order.
#pragma once

#include <cstdint>

#include "core/body.hpp"

namespace impipe::cpu {

// One row, any taps: out[i] = sum of weights[t] * taps[t][i].
void sparse_sum(float* out, const float* const* taps, const float* weights, int count,
                std::int64_t n, CpuLevel level);

// One row: out[i] = the largest or smallest taps[t][i] + heights[t] that is no NaN; -inf or inf
// when there is none.
void sparse_extremum(float* out, const float* const* taps, const float* heights, int count,
                     bool largest, std::int64_t n, CpuLevel level);

// Output rows at which dense_sum is fastest.
inline constexpr int dense_rows = 4;

// `rows` rows (1 or dense_rows) over a full rectangle of taps: weights [height][width]; in[r] for
// r < rows + height - 1 points at the leftmost tap of output row 0's row r.
void dense_sum(float* const* out, int rows, const float* const* in, const float* weights, int width,
               int height, std::int64_t n, CpuLevel level);

}  // namespace impipe::cpu
