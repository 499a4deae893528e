// Rows of a reconstruction, for each instruction set.
#include "backends/cpu/components/sweep_rows.hpp"

#include <limits>

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

template <class T>
constexpr T lowest_value = std::numeric_limits<T>::min();
template <class T>
constexpr T highest_value = std::numeric_limits<T>::max();

// In line: those of the standard library could be compiled for another level.
template <class T>
IMPIPE_INLINE constexpr T larger_of(T a, T b) {
  return a < b ? b : a;
}
template <class T>
IMPIPE_INLINE constexpr T smaller_of(T a, T b) {
  return b < a ? b : a;
}

template <class T, bool forward>
void plain_sweep(T* out, const T* beside, const T* mask, std::int64_t n, bool corners) {
  T last = lowest_value<T>;
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t x = forward ? k : n - 1 - k;
    T around = larger_of(out[x], beside[x]);
    if (corners) around = larger_of(around, larger_of(beside[x - 1], beside[x + 1]));
    last = smaller_of(larger_of(last, around), mask[x]);
    out[x] = last;
  }
}

#define IMPIPE_KERNELS "backends/cpu/components/lead_rows.inc"
#include "backends/cpu/simd/each_level.inc"

#define IMPIPE_KERNELS "backends/cpu/components/sweep_rows.inc"
#include "backends/cpu/simd/vector_levels.inc"

template <class T, bool forward>
SweepRow<T> sweep_of(CpuLevel level) {
  return IMPIPE_VECTORS_OR(level, (plain_sweep<T, forward>), sweep<T, forward>);
}

}  // namespace

template <class T>
SweepRow<T> sweep_row(bool forward, CpuLevel level) {
  return forward ? sweep_of<T, true>(level) : sweep_of<T, false>(level);
}

template <class T>
OpenRow<T> open_row(CpuLevel level) {
  return IMPIPE_AT_LEVEL(level, open<T>);
}

template <class T>
LeadRow<T> lead_row(CpuLevel level) {
  return IMPIPE_AT_LEVEL(level, lead<T>);
}

#define IMPIPE_SWEEP_CLASS(T)                                      \
  template SweepRow<T> sweep_row<T>(bool forward, CpuLevel level); \
  template OpenRow<T> open_row<T>(CpuLevel level);                 \
  template LeadRow<T> lead_row<T>(CpuLevel level);
IMPIPE_SWEEP_CLASS(std::uint8_t)
IMPIPE_SWEEP_CLASS(std::uint16_t)
IMPIPE_SWEEP_CLASS(std::int32_t)
#undef IMPIPE_SWEEP_CLASS

}  // namespace impipe::cpu
