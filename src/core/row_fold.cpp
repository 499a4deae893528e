#include "core/row_fold.hpp"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/body.hpp"
#include "core/has_v3.hpp"

namespace impipe {
namespace {

enum class Fold { sum, weighted, largest, smallest };

template <Fold fold, class V, class T>
IMPIPE_INLINE V folded(V a, V b, [[maybe_unused]] T weight) {
  if constexpr (fold == Fold::sum) return a + b;
  if constexpr (fold == Fold::weighted) {  // a vector's values become one instruction
    if constexpr (std::is_same_v<V, T>) {
      return std::fma(b, weight, a);
    } else {
      V out;
      for (std::size_t i = 0; i < sizeof(V) / sizeof(T); ++i) out[i] = std::fma(b[i], weight, a[i]);
      return out;
    }
  }
  if constexpr (fold == Fold::largest) return a < b ? b : a;
  if constexpr (fold == Fold::smallest) return b < a ? b : a;
}

// `registers` vectors of each row at a time, from value x on.
template <Fold fold, class T, class V, int registers>
IMPIPE_INLINE void fold_block(const T* const* rows, const T* weights, std::size_t rows_count,
                              T* out, std::int64_t x) {
  constexpr std::int64_t lanes = sizeof(V) / sizeof(T);
  V value[registers];
  for (int r = 0; r < registers; ++r) {
    std::memcpy(&value[r], rows[0] + x + r * lanes, sizeof(V));
    if constexpr (fold == Fold::weighted) value[r] = value[r] * weights[0] + T{};
  }
  for (std::size_t i = 1; i < rows_count; ++i) {
    const T weight = fold == Fold::weighted ? weights[i] : T{};
    for (int r = 0; r < registers; ++r) {
      V next;
      std::memcpy(&next, rows[i] + x + r * lanes, sizeof(V));
      value[r] = folded<fold>(value[r], next, weight);
    }
  }
  for (int r = 0; r < registers; ++r) std::memcpy(out + x + r * lanes, &value[r], sizeof(V));
}

template <Fold fold, class T>
IMPIPE_INLINE void fold_body(const T* const* rows, const T* weights, std::size_t rows_count, T* out,
                             std::int64_t count) {
  // Values side by side, as many as a vector register of x86-64-v3 has.
  using Lanes [[gnu::vector_size(32)]] = T;
  constexpr std::int64_t lanes = sizeof(Lanes) / sizeof(T);
  std::int64_t x = 0;
  for (; x + 4 * lanes <= count; x += 4 * lanes) {
    fold_block<fold, T, Lanes, 4>(rows, weights, rows_count, out, x);
  }
  for (; x + lanes <= count; x += lanes) {
    fold_block<fold, T, Lanes, 1>(rows, weights, rows_count, out, x);
  }
  for (; x < count; ++x) fold_block<fold, T, T, 1>(rows, weights, rows_count, out, x);
}

#define IMPIPE_FOLD(level)                                                                      \
  template <Fold fold, class T>                                                                 \
  IMPIPE_TARGET_##level void fold_##level(const T* const* rows, const T* weights,               \
                                          std::size_t rows_count, T* out, std::int64_t count) { \
    fold_body<fold>(rows, weights, rows_count, out, count);                                     \
  }
IMPIPE_FOLD(baseline)
IMPIPE_FOLD(v3)
#undef IMPIPE_FOLD

template <Fold fold, class T>
void fold_rows(std::span<const T* const> rows, const T* weights, T* out, std::int64_t count) {
  (has_v3() ? fold_v3<fold, T> : fold_baseline<fold, T>)(rows.data(), weights, rows.size(), out,
                                                         count);
}

}  // namespace

template <class T>
void sum_rows(std::span<const T* const> rows, T* out, std::int64_t count) {
  fold_rows<Fold::sum, T>(rows, nullptr, out, count);
}
template <class T>
void sum_rows(std::span<const T* const> rows, const T* weights, T* out, std::int64_t count) {
  fold_rows<Fold::weighted, T>(rows, weights, out, count);
}
template <class T>
void extremum_of_rows(bool largest, std::span<const T* const> rows, T* out, std::int64_t count) {
  if (largest) {
    fold_rows<Fold::largest, T>(rows, nullptr, out, count);
  } else {
    fold_rows<Fold::smallest, T>(rows, nullptr, out, count);
  }
}

template void sum_rows(std::span<const float* const>, float*, std::int64_t);
template void sum_rows(std::span<const double* const>, double*, std::int64_t);
template void sum_rows(std::span<const std::int32_t* const>, std::int32_t*, std::int64_t);
template void sum_rows(std::span<const float* const>, const float*, float*, std::int64_t);
template void extremum_of_rows(bool, std::span<const std::uint8_t* const>, std::uint8_t*,
                               std::int64_t);
template void extremum_of_rows(bool, std::span<const std::uint16_t* const>, std::uint16_t*,
                               std::int64_t);
template void extremum_of_rows(bool, std::span<const float* const>, float*, std::int64_t);

}  // namespace impipe
