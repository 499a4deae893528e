// Weighted sums over taps: blocks of results that stay in registers while the taps go by. Four rows
// at a time, because a loaded vector then serves four results and loads no longer are the limit.
#include "backends/cpu/tile/weighted_sum.hpp"

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

#define IMPIPE_KERNELS "backends/cpu/tile/weighted_rows.inc"
#include "backends/cpu/simd/each_level.inc"

}  // namespace

void sparse_sum(float* out, const float* const* taps, const float* weights, int count,
                std::int64_t n, CpuLevel level) {
  IMPIPE_AT_LEVEL(level, sparse_row)(out, taps, weights, count, n);
}

void sparse_extremum(float* out, const float* const* taps, const float* heights, int count,
                     bool largest, std::int64_t n, CpuLevel level) {
  (largest ? IMPIPE_AT_LEVEL(level, extreme_row<true>)
           : IMPIPE_AT_LEVEL(level, extreme_row<false>))(out, taps, heights, count, n);
}

void dense_sum(float* const* out, int rows, const float* const* in, const float* weights, int width,
               int height, std::int64_t n, CpuLevel level) {
  (rows == dense_rows ? IMPIPE_AT_LEVEL(level, dense_four) : IMPIPE_AT_LEVEL(level, dense_one))(
      out, in, weights, width, height, n);
}

}  // namespace impipe::cpu
