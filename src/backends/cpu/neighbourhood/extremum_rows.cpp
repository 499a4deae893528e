// The row operations of an extremum: plain loops that the compiler turns into packed minima and
// maxima of the image's own class.
#include "backends/cpu/neighbourhood/extremum_rows.hpp"

#include <limits>

#include "backends/cpu/neighbourhood/one_zero.hpp"
#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

template <class T, bool largest>
constexpr T nothing_of() {
  using Limits = std::numeric_limits<T>;
  if (Limits::has_infinity) return largest ? -Limits::infinity() : Limits::infinity();
  return largest ? Limits::lowest() : Limits::max();
}

// `so_far` holds no NaN, so neither does the result.
template <class T, bool largest>
IMPIPE_INLINE T better(T value, T so_far) {
  if (largest) return value > so_far ? value : so_far;
  return value < so_far ? value : so_far;
}

template <class T, bool largest>
IMPIPE_INLINE T without_nan(T value) {
  if constexpr (std::numeric_limits<T>::is_integer) return value;
  return better<T, largest>(value, nothing_of<T, largest>());
}

// Does body(i) for each i < n, in blocks of a fixed size, so that the compiler needs no code for
// remainders: the last block lies over the one before it. Doing a place twice is harmless, for an
// extremum with itself changes nothing.
template <class T, class Body>
IMPIPE_INLINE void for_blocks(std::int64_t n, Body body) {
  constexpr std::int64_t block = 64 / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t last = n - block;
  if (last < 0) {
    for (std::int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  for (std::int64_t start = 0;;) {
    // Unrolled before it is vectorised, a block would stay single elements.
#pragma GCC ivdep
#pragma GCC unroll 1
    for (std::int64_t i = start; i < start + block; ++i) body(i);
    if (start == last) return;
    start = start + block < last ? start + block : last;
  }
}

template <class T, bool largest, int count, bool onto>
IMPIPE_INLINE void combine_some(T* __restrict out, const T* const* sources, std::int64_t n) {
  const T* row[count];
  for (int j = 0; j < count; ++j) row[j] = sources[j];
  for_blocks<T>(
      n, [&](std::int64_t i) __attribute__((always_inline)) {
        T value = onto ? better<T, largest>(row[0][i], out[i]) : without_nan<T, largest>(row[0][i]);
        for (int j = 1; j < count; ++j) value = better<T, largest>(row[j][i], value);
        out[i] = one_zero(value);
      });
}

template <class T, bool largest, bool onto>
IMPIPE_INLINE void combine_up_to_8(T* out, const T* const* sources, int count, std::int64_t n) {
  switch (count) {
    case 1: return combine_some<T, largest, 1, onto>(out, sources, n);
    case 2: return combine_some<T, largest, 2, onto>(out, sources, n);
    case 3: return combine_some<T, largest, 3, onto>(out, sources, n);
    case 4: return combine_some<T, largest, 4, onto>(out, sources, n);
    case 5: return combine_some<T, largest, 5, onto>(out, sources, n);
    case 6: return combine_some<T, largest, 6, onto>(out, sources, n);
    case 7: return combine_some<T, largest, 7, onto>(out, sources, n);
    default: return combine_some<T, largest, 8, onto>(out, sources, n);
  }
}

template <class T, bool largest>
IMPIPE_INLINE void combine_rows(T* out, const T* const* sources, int count, std::int64_t n) {
  int done = count < max_sources ? count : max_sources;
  combine_up_to_8<T, largest, false>(out, sources, done, n);
  while (done < count) {
    const int more = count - done < max_sources ? count - done : max_sources;
    combine_up_to_8<T, largest, true>(out, sources + done, more, n);
    done += more;
  }
}

template <class T, bool largest, int count>
IMPIPE_INLINE void pair_of(T* __restrict out0, T* __restrict out1, const T* const* sources,
                           std::int64_t n) {
  const T* row[count + 1];
  for (int j = 0; j <= count; ++j) row[j] = sources[j];
  for_blocks<T>(
      n, [&](std::int64_t i) __attribute__((always_inline)) {
        T common = without_nan<T, largest>(row[1][i]);
        for (int j = 2; j < count; ++j) common = better<T, largest>(row[j][i], common);
        out0[i] = one_zero(better<T, largest>(row[0][i], common));
        out1[i] = one_zero(better<T, largest>(row[count][i], common));
      });
}

template <class T, bool largest>
IMPIPE_INLINE void pair_rows(T* out0, T* out1, const T* const* sources, int count, std::int64_t n) {
  switch (count) {
    case 2: return pair_of<T, largest, 2>(out0, out1, sources, n);
    case 3: return pair_of<T, largest, 3>(out0, out1, sources, n);
    case 4: return pair_of<T, largest, 4>(out0, out1, sources, n);
    case 5: return pair_of<T, largest, 5>(out0, out1, sources, n);
    case 6: return pair_of<T, largest, 6>(out0, out1, sources, n);
    case 7: return pair_of<T, largest, 7>(out0, out1, sources, n);
    default: return pair_of<T, largest, 8>(out0, out1, sources, n);
  }
}

template <class T, bool largest>
IMPIPE_INLINE void fold_row(T* __restrict out, T* __restrict so_far, const T* __restrict row,
                            std::int64_t n) {
  for_blocks<T>(
      n, [&](std::int64_t i) __attribute__((always_inline)) {
        const T value = better<T, largest>(row[i], so_far[i]);
        so_far[i] = value;
        out[i] = one_zero(better<T, largest>(value, out[i]));
      });
}

#define IMPIPE_KERNELS "backends/cpu/neighbourhood/extremum_rows.inc"
#include "backends/cpu/simd/each_level.inc"

template <class T, bool largest>
const ExtremumRows<T>& rows_of(CpuLevel level) {
  return IMPIPE_AT_LEVEL(level, Rows<T, largest>::table);
}

}  // namespace

template <class T>
const ExtremumRows<T>& extremum_rows(bool largest, CpuLevel level) {
  return largest ? rows_of<T, true>(level) : rows_of<T, false>(level);
}
template const ExtremumRows<std::uint8_t>& extremum_rows(bool, CpuLevel);
template const ExtremumRows<std::uint16_t>& extremum_rows(bool, CpuLevel);
template const ExtremumRows<float>& extremum_rows(bool, CpuLevel);

}  // namespace impipe::cpu
