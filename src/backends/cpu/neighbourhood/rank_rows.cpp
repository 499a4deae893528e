// The row operations of a rank filter: packed minima and maxima of the image's own class.
#include "backends/cpu/neighbourhood/rank_rows.hpp"

#include "backends/cpu/neighbourhood/one_zero.hpp"
#include "backends/cpu/neighbourhood/rank_keys.hpp"
#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

template <class T>
IMPIPE_INLINE void run_steps(const ChunkStep* steps, int count) {
  constexpr int n = step_block_bytes / static_cast<int>(sizeof(T));
  for (int s = 0; s < count; ++s) {
    const T* a = static_cast<const T*>(steps[s].a);
    const T* b = static_cast<const T*>(steps[s].b);
    T* low = static_cast<T*>(steps[s].low);
    T* high = static_cast<T*>(steps[s].high);
    // Whole blocks, so that the compiler needs no code for remainders.
    for (int block = 0; block < steps[s].blocks; ++block, a += n, b += n) {
      if (high == nullptr) {
#pragma GCC ivdep
#pragma GCC unroll 1  // else it is unrolled before it is vectorised, and then is not
        for (int i = 0; i < n; ++i) low[i] = a[i] < b[i] ? a[i] : b[i];
        low += n;
      } else if (low == nullptr) {
#pragma GCC ivdep
#pragma GCC unroll 1
        for (int i = 0; i < n; ++i) high[i] = a[i] < b[i] ? b[i] : a[i];
        high += n;
      } else {
#pragma GCC ivdep
#pragma GCC unroll 1
        for (int i = 0; i < n; ++i) {
          const T x = a[i], y = b[i];
          low[i] = x < y ? x : y;
          high[i] = x < y ? y : x;
        }
        low += n;
        high += n;
      }
    }
  }
}

// The mean of two values; of two keys the key of their floats' mean.
template <class T>
IMPIPE_INLINE T mean_of(T a, T b) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    return rank_key(mean_of_two(value_of_rank_key(a), value_of_rank_key(b)));
  } else {
    return mean_of_two(a, b);
  }
}

template <class T>
IMPIPE_INLINE void average_rows(T* __restrict out, const T* a, const T* b, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = mean_of(a[i], b[i]);
}

#define IMPIPE_KERNELS "backends/cpu/neighbourhood/rank_rows.inc"
#include "backends/cpu/simd/each_level.inc"

}  // namespace

template <class T>
const RankRows<T>& rank_rows(CpuLevel level) {
  return IMPIPE_AT_LEVEL(level, Rows<T>::table);
}
template const RankRows<std::uint8_t>& rank_rows(CpuLevel);
template const RankRows<std::uint16_t>& rank_rows(CpuLevel);
template const RankRows<float>& rank_rows(CpuLevel);
template const RankRows<std::int32_t>& rank_rows(CpuLevel);

}  // namespace impipe::cpu
