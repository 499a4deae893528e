// Weighted sums over taps: blocks of accumulators that stay in registers while the taps go by.
#include "backends/cpu/weighted_sum.hpp"

#include "backends/cpu/level.hpp"

namespace impipe::cpu {
namespace {

template <class...>
IMPIPE_INLINE void sum_taps_body(float* __restrict out, const float* const* taps,
                                 const float* __restrict weights, int count, std::int64_t n) {
  constexpr int block = 128;
  for (std::int64_t i = 0; i < n; i += block) {
    float acc[block];
    const std::int64_t m = n - i < block ? n - i : block;
    for (std::int64_t k = 0; k < m; ++k) acc[k] = 0;
    for (int t = 0; t < count; ++t) {
      const float* __restrict tap = taps[t] + i;
      const float w = weights[t];
      for (std::int64_t k = 0; k < m; ++k) acc[k] = bodies::fma(w, tap[k], acc[k]);
    }
    for (std::int64_t k = 0; k < m; ++k) out[i + k] = acc[k];
  }
}
IMPIPE_CPU_KERNEL(sum_taps,
                  (float* out, const float* const* taps, const float* weights, int count,
                   std::int64_t n),
                  (out, taps, weights, count, n))

}  // namespace

void weighted_sum(float* out, const float* const* taps, const float* weights, int count,
                  std::int64_t n, CpuLevel level) {
  sum_taps<>[static_cast<int>(level)](out, taps, weights, count, n);
}

}  // namespace impipe::cpu
