// Medians of 3x3 and 5x5 windows: straight-line networks in loops that the compiler vectorises.
#include "backends/cpu/neighbourhood/rank_median.hpp"

#include <array>
#include <type_traits>
#include <utility>

#include "backends/cpu/neighbourhood/one_zero.hpp"
#include "backends/cpu/neighbourhood/rank_network.hpp"
#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

// A network as a constant: the compiler needs its size first.
template <std::size_t steps, std::size_t values>
struct FixedNetwork {
  std::array<Exchange, steps> exchanges;
  std::array<int, values> results;
};
template <auto make>
constexpr auto fixed() {
  constexpr std::size_t steps = make().exchanges.size(), values = make().results.size();
  FixedNetwork<steps, values> network{};
  const SelectionNetwork made = make();
  for (std::size_t i = 0; i < steps; ++i) network.exchanges[i] = made.exchanges[i];
  for (std::size_t i = 0; i < values; ++i) network.results[i] = made.results[i];
  return network;
}

constexpr auto sort_3 = fixed<[] { return sorting_network(3); }>();
constexpr auto sort_5 = fixed<[] { return sorting_network(5); }>();
constexpr auto median_of_3_columns = fixed<[] {
  return selection_network({3, 3, 3}, 4, 4, MergeOrder::shortest);
}>();
constexpr auto pair_of_5 = fixed<[] {
  return selection_network({5, 5}, 0, 9, MergeOrder::as_given);
}>();
constexpr auto median_of_2_pairs_and_a_column = fixed<[] {
  return selection_network({10, 10, 5}, 12, 12, MergeOrder::as_given);
}>();

// Of two sorted pairs of rows the values that may be the median of both and a row of five.
constexpr auto middle_of_2_pairs = fixed<[] {
  return selection_network({10, 10}, 7, 12, MergeOrder::as_given);
}>();
constexpr auto median_of_middle_and_row = fixed<[] {
  return selection_network({6, 5}, 5, 5, MergeOrder::as_given);
}>();

template <const auto& network, std::size_t i, class T>
IMPIPE_INLINE void exchange(T* wires) {
  constexpr Exchange e = network.exchanges[i];
  const T a = wires[e.low], b = wires[e.high];
  if constexpr (e.keep_low) wires[e.low] = a < b ? a : b;
  if constexpr (e.keep_high) wires[e.high] = a < b ? b : a;
}
template <const auto& network, class T, std::size_t... i>
IMPIPE_INLINE void exchange_all(T* wires, std::index_sequence<i...>) {
  (exchange<network, i>(wires), ...);
}
template <const auto& network, class T>
IMPIPE_INLINE void apply(T* wires) {
  exchange_all<network>(wires,
                        std::make_index_sequence<sizeof(network.exchanges) / sizeof(Exchange)>{});
}

// One network over n places: wire j starts as sources[j], result r goes to row r of `out`. Packs
// instead of loops over the wires, or the compiler keeps them in memory. No source overlaps `out`.
template <const auto& network, class T, std::size_t... in, std::size_t... results>
IMPIPE_INLINE void pass(T* __restrict out, std::int64_t stride, const T* const* sources,
                        std::int64_t n, std::index_sequence<in...>,
                        std::index_sequence<results...>) {
  const T* const at[] = {sources[in]...};
  T* const to[] = {out + static_cast<std::int64_t>(results) * stride...};
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    T wires[] = {at[in][i]...};
    apply<network>(wires);
    if constexpr (sizeof...(results) == 1) {
      ((to[results][i] = one_zero(wires[network.results[results]])), ...);
    } else {
      ((to[results][i] = wires[network.results[results]]), ...);
    }
  }
}
template <const auto& network, int in, int results, class T>
IMPIPE_INLINE void pass(T* out, std::int64_t stride, const T* const* sources, std::int64_t n) {
  pass<network>(out, stride, sources, n, std::make_index_sequence<in>{},
                std::make_index_sequence<results>{});
}

constexpr std::int64_t padded(std::int64_t n) { return (n + 63) / 64 * 64; }

template <class T>
IMPIPE_INLINE void median_3x3_row(T* out, const T* const* rows, std::int64_t n, T* work) {
  const std::int64_t wide = n + 2, stride = padded(wide);
  pass<sort_3, 3, 3>(work, stride, rows, wide);
  const T* sources[9];
  for (int column = 0; column < 3; ++column) {
    for (int j = 0; j < 3; ++j) sources[column * 3 + j] = work + j * stride + column;
  }
  pass<median_of_3_columns, 9, 1>(out, 0, sources, n);
}

template <class T>
IMPIPE_INLINE void median_5x5_row(T* out, const T* const* rows, std::int64_t n, T* work) {
  const std::int64_t wide = n + 4, stride = padded(wide);
  T* pairs = work + 5 * stride;
  pass<sort_5, 5, 5>(work, stride, rows, wide);
  const T* sources[25];
  for (int j = 0; j < 5; ++j) {
    sources[j] = work + j * stride;
    sources[5 + j] = work + j * stride + 1;
  }
  pass<pair_of_5, 10, 10>(pairs, stride, sources, n + 2);
  for (int j = 0; j < 10; ++j) {
    sources[j] = pairs + j * stride;
    sources[10 + j] = pairs + j * stride + 2;
  }
  for (int j = 0; j < 5; ++j) sources[20 + j] = work + j * stride + 4;
  pass<median_of_2_pairs_and_a_column, 25, 1>(out, 0, sources, n);
}

#define IMPIPE_KERNELS "backends/cpu/neighbourhood/median_rows.inc"
#include "backends/cpu/simd/each_level.inc"
#if IMPIPE_HAS_INTRINSICS
#define IMPIPE_KERNELS "backends/cpu/neighbourhood/median_vectors.inc"
#include "backends/cpu/simd/vector_levels.inc"
#else
namespace baseline {
template <class T>
using Vectors = Rows<T>;
}
#endif

}  // namespace

template <class T>
const MedianRows<T>& median_rows(CpuLevel level) {
  switch (level) {
    case CpuLevel::v4: return v4::Vectors<T>::table;
    case CpuLevel::v3: return v3::Vectors<T>::table;
    default: return baseline::Rows<T>::table;
  }
}
template const MedianRows<std::uint8_t>& median_rows(CpuLevel);
template const MedianRows<std::uint16_t>& median_rows(CpuLevel);
template const MedianRows<float>& median_rows(CpuLevel);
template const MedianRows<std::int32_t>& median_rows(CpuLevel);

std::int64_t median_work(int side, std::int64_t n) {
  const std::int64_t stride = padded(n + side - 1);
  return stride * (side == 3 ? 3 : 15);
}
std::int64_t kept_of_pair(std::int64_t n) { return 15 * padded(n); }

}  // namespace impipe::cpu
