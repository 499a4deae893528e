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
  constexpr decltype(&baseline::sparse_row) rows[] = {baseline::sparse_row, v3::sparse_row,
                                                      v4::sparse_row};
  rows[static_cast<int>(level)](out, taps, weights, count, n);
}

void sparse_extremum(float* out, const float* const* taps, const float* heights, int count,
                     bool largest, std::int64_t n, CpuLevel level) {
  using Row = decltype(&baseline::extreme_row<true>);
  constexpr Row rows[][cpu_levels] = {
      {baseline::extreme_row<false>, v3::extreme_row<false>, v4::extreme_row<false>},
      {baseline::extreme_row<true>, v3::extreme_row<true>, v4::extreme_row<true>}};
  rows[largest][static_cast<int>(level)](out, taps, heights, count, n);
}

void dense_sum(float* const* out, int rows, const float* const* in, const float* weights, int width,
               int height, std::int64_t n, CpuLevel level) {
  using Dense = decltype(&baseline::dense_one);
  constexpr Dense one[] = {baseline::dense_one, v3::dense_one, v4::dense_one};
  constexpr Dense four[] = {baseline::dense_four, v3::dense_four, v4::dense_four};
  (rows == dense_rows ? four : one)[static_cast<int>(level)](out, in, weights, width, height, n);
}

}  // namespace impipe::cpu
