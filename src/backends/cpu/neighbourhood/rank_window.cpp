// Windows over a tile: sums of column counts, and the search through one bucket.
#include "backends/cpu/neighbourhood/rank_window.hpp"

#include "backends/cpu/simd/intrinsics.hpp"

namespace impipe::cpu {
namespace {

#define IMPIPE_RANK_INLINE inline __attribute__((always_inline))

constexpr int block = 64;  // values of a bucket that are looked at together

// The window's counts; entry -1, before the first bucket, is 0.
struct alignas(64) WindowCounts {
  static constexpr int first = 32;
  std::uint16_t entries[first + buckets] = {};
  std::uint16_t* up_to() { return entries + first; }
};

// ---- the columns, in loops that the compiler vectorises

IMPIPE_INLINE void move_columns(ColumnCounts* columns, const std::uint8_t* added,
                                const std::uint8_t* removed, int count) {
  for (int i = 0; i < count; ++i) {
    std::int8_t* up_to = columns[i].up_to;
    const auto a = static_cast<std::int8_t>(added[i]);
    if (removed == nullptr) {
      for (int t = 0; t < buckets; ++t) {
        up_to[t] = static_cast<std::int8_t>(up_to[t] + (static_cast<std::int8_t>(t) >= a));
      }
    } else {
      const auto r = static_cast<std::int8_t>(removed[i]);
      for (int t = 0; t < buckets; ++t) {
        up_to[t] = static_cast<std::int8_t>(up_to[t] + (static_cast<std::int8_t>(t) >= a) -
                                            (static_cast<std::int8_t>(t) >= r));
      }
    }
  }
}
IMPIPE_INLINE void add_column(std::uint16_t* counts, const ColumnCounts& column) {
  for (int t = 0; t < buckets; ++t) {
    counts[t] = static_cast<std::uint16_t>(counts[t] + column.up_to[t]);
  }
}

// ---- masks, with what differs between instruction sets as functions

// [code]: what a value of that code adds to the counts up to each bucket.
struct alignas(64) StepTable {
  std::int8_t of[buckets][buckets];
};
constexpr StepTable steps = [] {
  StepTable table{};
  for (int code = 0; code < buckets; ++code) {
    for (int t = 0; t < buckets; ++t) table.of[code][t] = t >= code;
  }
  return table;
}();
constexpr int max_steps = 127;  // that a byte can sum

// Adds the values at codes[entering[i]] to the counts, and takes away those at codes[leaving[i]]
// unless that is null; i < n <= max_steps.
using Count = void (*)(std::uint16_t* counts, const std::uint8_t* codes, const int* entering,
                       const int* leaving, int n);

constexpr int max_blocks = (1 << max_bucket_shift) / block;
// Which of a bucket's values lie in the rectangle round the window, a bit each.
using Inside = void (*)(const TilePlaces& places, int bucket, int x, const WindowRow& row,
                        std::uint64_t* bits);

std::uint16_t find_in_mask(const TilePlaces& places, int bucket, int x, const WindowRow& row,
                           const MaskCells& mask, int rank, Inside inside) {
  std::uint64_t bits[max_blocks];
  inside(places, bucket, x, row, bits);
  const int first = bucket << places.bucket_shift;
  for (int k = 0;; ++k) {
    for (std::uint64_t rest = bits[k]; rest != 0; rest &= rest - 1) {
      const int i = first + k * block + __builtin_ctzll(rest);
      const int cell = (places.y[i] - row.y) * row.width + places.x[i] - x;
      if (mask.set[cell] != 0 && rank-- == 0) return static_cast<std::uint16_t>(i);
    }
  }
}

IMPIPE_INLINE void select_under_mask(const WindowRow& row, const MaskCells& mask,
                                     const TilePlaces& places, const std::uint8_t* codes,
                                     std::uint16_t* numbers, std::uint16_t* next, Count count,
                                     Inside inside) {
  WindowCounts window;
  std::uint16_t* up_to = window.up_to();
  const std::uint8_t* at = codes + row.y * tile_row;
  const auto part = [](int total, int done) {
    return total - done < max_steps ? total - done : max_steps;
  };
  for (int i = 0; i < mask.count; i += max_steps) {
    count(up_to, at, mask.all + i, nullptr, part(mask.count, i));
  }
  for (int x = 0; x < row.count; ++x) {
    for (int i = 0; x > 0 && i < mask.moving; i += max_steps) {
      count(up_to, at + x - 1, mask.entering + i, mask.leaving + i, part(mask.moving, i));
    }
    for (int k = 0; k < (next != nullptr ? 2 : 1); ++k) {
      const auto rank = static_cast<std::uint16_t>(row.rank + k);
      std::uint16_t bucket = 0;
      for (int t = 0; t < buckets; ++t) {
        bucket = static_cast<std::uint16_t>(bucket + (up_to[t] <= rank));
      }
      (k == 0 ? numbers : next)[x] =
          find_in_mask(places, bucket, x, row, mask, rank - up_to[bucket - 1], inside);
    }
  }
}

// ---- any processor

void inside_baseline(const TilePlaces& places, int bucket, int x, const WindowRow& row,
                     std::uint64_t* bits) {
  const int first = bucket << places.bucket_shift;
  for (int k = 0; k < (1 << places.bucket_shift) / block; ++k) {
    bits[k] = 0;
    for (int i = 0; i < block; ++i) {
      const auto dx = static_cast<unsigned>(places.x[first + k * block + i] - x);
      const auto dy = static_cast<unsigned>(places.y[first + k * block + i] - row.y);
      const bool in =
          dx < static_cast<unsigned>(row.width) && dy < static_cast<unsigned>(row.height);
      bits[k] |= std::uint64_t{in} << i;
    }
  }
}

int find_baseline(const TilePlaces& places, int bucket, int x, int y, int width, int height,
                  int rank) {
  for (int i = bucket << places.bucket_shift;; ++i) {
    const bool inside = static_cast<unsigned>(places.x[i] - x) < static_cast<unsigned>(width) &&
                        static_cast<unsigned>(places.y[i] - y) < static_cast<unsigned>(height);
    if (inside && rank-- == 0) return i;
  }
}

void select_baseline(const WindowRow& row, const TilePlaces& places, const ColumnCounts* columns,
                     std::uint16_t* numbers, std::uint16_t* next) {
  WindowCounts window;
  std::uint16_t* up_to = window.up_to();
  for (int x = 0; x < row.width; ++x) add_column(up_to, columns[x]);
  for (int x = 0;; ++x) {
    for (int k = 0; k < (next != nullptr ? 2 : 1); ++k) {
      const int rank = row.rank + k;
      int bucket = 0;
      for (int t = 0; t < buckets; ++t) bucket += up_to[t] <= rank;
      (k == 0 ? numbers : next)[x] = static_cast<std::uint16_t>(
          find_baseline(places, bucket, x, row.y, row.width, row.height, rank - up_to[bucket - 1]));
    }
    if (x + 1 == row.count) return;
    const ColumnCounts& right = columns[x + row.width];
    const ColumnCounts& left = columns[x];
    for (int t = 0; t < buckets; ++t) {
      up_to[t] = static_cast<std::uint16_t>(up_to[t] + right.up_to[t] - left.up_to[t]);
    }
  }
}

void move_baseline(ColumnCounts* columns, const std::uint8_t* added, const std::uint8_t* removed,
                   int count) {
  move_columns(columns, added, removed, count);
}

void count_baseline(std::uint16_t* counts, const std::uint8_t* codes, const int* entering,
                    const int* leaving, int n) {
  for (int i = 0; i < n; ++i) {
    const std::int8_t* enters = steps.of[codes[entering[i]]];
    for (int t = 0; t < buckets; ++t) {
      counts[t] = static_cast<std::uint16_t>(counts[t] + enters[t]);
    }
    if (leaving == nullptr) continue;
    const std::int8_t* leaves = steps.of[codes[leaving[i]]];
    for (int t = 0; t < buckets; ++t) {
      counts[t] = static_cast<std::uint16_t>(counts[t] - leaves[t]);
    }
  }
}

void under_mask_baseline(const WindowRow& row, const MaskCells& mask, const TilePlaces& places,
                         const std::uint8_t* codes, std::uint16_t* numbers, std::uint16_t* next) {
  select_under_mask(row, mask, places, codes, numbers, next, count_baseline, inside_baseline);
}

constexpr RankWindows baseline{
    move_baseline, {select_baseline, select_baseline, select_baseline}, under_mask_baseline};

#if IMPIPE_HAS_INTRINSICS

// ---- x86-64-v3

IMPIPE_TARGET_v3 void move_v3(ColumnCounts* columns, const std::uint8_t* added,
                              const std::uint8_t* removed, int count) {
  move_columns(columns, added, removed, count);
}

// Which of 32 values lie in the window; edges: x, y, width - 1 and height - 1.
struct Edges_v3 {
  __m256i x, y, last_x, last_y;
};
IMPIPE_TARGET_v3 IMPIPE_RANK_INLINE std::uint32_t inside_v3(const TilePlaces& places, int i,
                                                            const Edges_v3& edges) {
  const auto* at_x = reinterpret_cast<const __m256i*>(places.x + i);
  const auto* at_y = reinterpret_cast<const __m256i*>(places.y + i);
  const __m256i x = _mm256_sub_epi8(_mm256_load_si256(at_x), edges.x);
  const __m256i y = _mm256_sub_epi8(_mm256_load_si256(at_y), edges.y);
  const __m256i both = _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_min_epu8(x, edges.last_x), x),
                                        _mm256_cmpeq_epi8(_mm256_min_epu8(y, edges.last_y), y));
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(both));
}

IMPIPE_TARGET_v3 void inside_all_v3(const TilePlaces& places, int bucket, int x,
                                    const WindowRow& row, std::uint64_t* bits) {
  const Edges_v3 edges{_mm256_set1_epi8(static_cast<char>(x)),
                       _mm256_set1_epi8(static_cast<char>(row.y)),
                       _mm256_set1_epi8(static_cast<char>(row.width - 1)),
                       _mm256_set1_epi8(static_cast<char>(row.height - 1))};
  for (int k = 0; k < (1 << places.bucket_shift) / block; ++k) {
    const int i = (bucket << places.bucket_shift) + k * block;
    bits[k] = inside_v3(places, i, edges) | std::uint64_t{inside_v3(places, i + 32, edges)} << 32;
  }
}

IMPIPE_TARGET_v3 void count_v3(std::uint16_t* counts, const std::uint8_t* codes,
                               const int* entering, const int* leaving, int n) {
  __m256i sums[buckets / 32];
  for (__m256i& sum : sums) sum = _mm256_setzero_si256();
  for (int i = 0; i < n; ++i) {
    const auto* enters = reinterpret_cast<const __m256i*>(steps.of[codes[entering[i]]]);
    for (int k = 0; k < buckets / 32; ++k) sums[k] = _mm256_add_epi8(sums[k], enters[k]);
    if (leaving == nullptr) continue;
    const auto* leaves = reinterpret_cast<const __m256i*>(steps.of[codes[leaving[i]]]);
    for (int k = 0; k < buckets / 32; ++k) sums[k] = _mm256_sub_epi8(sums[k], leaves[k]);
  }
  auto* stored = reinterpret_cast<__m256i*>(counts);
  for (int k = 0; k < buckets / 32; ++k) {
    stored[2 * k] =
        _mm256_add_epi16(stored[2 * k], _mm256_cvtepi8_epi16(_mm256_castsi256_si128(sums[k])));
    stored[2 * k + 1] = _mm256_add_epi16(
        stored[2 * k + 1], _mm256_cvtepi8_epi16(_mm256_extracti128_si256(sums[k], 1)));
  }
}

IMPIPE_TARGET_v3 void under_mask_v3(const WindowRow& row, const MaskCells& mask,
                                    const TilePlaces& places, const std::uint8_t* codes,
                                    std::uint16_t* numbers, std::uint16_t* next) {
  select_under_mask(row, mask, places, codes, numbers, next, count_v3, inside_all_v3);
}

template <int blocks>
IMPIPE_TARGET_v3 IMPIPE_RANK_INLINE int find_with_v3(const TilePlaces& places, int bucket,
                                                     const Edges_v3& edges, int rank) {
  const int first = bucket * blocks * block;
  std::uint64_t inside[blocks];
  for (int k = 0; k < blocks; ++k) {
    const int i = first + k * block;
    inside[k] = inside_v3(places, i, edges) | std::uint64_t{inside_v3(places, i + 32, edges)} << 32;
  }
  // Which of the blocks is as good as random: no branches.
  int at = 0, before = 0, sum = 0;
  for (int k = 0; k + 1 < blocks; ++k) {
    sum += static_cast<int>(_mm_popcnt_u64(inside[k]));
    at += rank >= sum;
    before = rank >= sum ? sum : before;
  }
  const std::uint64_t wanted = _pdep_u64(1ull << (rank - before), inside[at]);
  return first + at * block + static_cast<int>(_tzcnt_u64(wanted));
}

// The number of entries that don't exceed the rank.
IMPIPE_TARGET_v3 IMPIPE_RANK_INLINE int bucket_v3(const __m256i* counts, __m256i rank) {
  __m256i above = _mm256_setzero_si256();  // minus how many exceed it, in each of 16 places
  for (int k = 0; k < buckets / 16; ++k) {
    above = _mm256_add_epi16(above, _mm256_cmpgt_epi16(counts[k], rank));
  }
  const __m256i pairs = _mm256_madd_epi16(above, _mm256_set1_epi16(1));
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
  return buckets + _mm_cvtsi128_si32(sum);
}

template <int blocks>
IMPIPE_TARGET_v3 void select_v3(const WindowRow& row, const TilePlaces& places,
                                const ColumnCounts* columns, std::uint16_t* numbers,
                                std::uint16_t* next) {
  WindowCounts window;
  std::uint16_t* up_to = window.up_to();
  for (int x = 0; x < row.width; ++x) add_column(up_to, columns[x]);
  auto* stored = reinterpret_cast<__m256i*>(up_to);
  Edges_v3 edges{_mm256_setzero_si256(), _mm256_set1_epi8(static_cast<char>(row.y)),
                 _mm256_set1_epi8(static_cast<char>(row.width - 1)),
                 _mm256_set1_epi8(static_cast<char>(row.height - 1))};
  const __m256i rank = _mm256_set1_epi16(static_cast<short>(row.rank));
  const __m256i rank_after = _mm256_set1_epi16(static_cast<short>(row.rank + 1));
  __m256i counts[buckets / 16];
  for (int k = 0; k < buckets / 16; ++k) counts[k] = _mm256_load_si256(stored + k);
  for (int x = 0;; ++x) {
    const int bucket = bucket_v3(counts, rank);
    numbers[x] = static_cast<std::uint16_t>(
        find_with_v3<blocks>(places, bucket, edges, row.rank - up_to[bucket - 1]));
    if (next != nullptr) {
      const int after = bucket_v3(counts, rank_after);
      next[x] = static_cast<std::uint16_t>(
          find_with_v3<blocks>(places, after, edges, row.rank + 1 - up_to[after - 1]));
    }
    if (x + 1 == row.count) return;
    const auto* right = reinterpret_cast<const __m256i*>(columns[x + row.width].up_to);
    const auto* left = reinterpret_cast<const __m256i*>(columns[x].up_to);
    for (int k = 0; k < buckets / 32; ++k) {
      const __m256i change =
          _mm256_sub_epi8(_mm256_load_si256(right + k), _mm256_load_si256(left + k));
      counts[2 * k] =
          _mm256_add_epi16(counts[2 * k], _mm256_cvtepi8_epi16(_mm256_castsi256_si128(change)));
      counts[2 * k + 1] = _mm256_add_epi16(
          counts[2 * k + 1], _mm256_cvtepi8_epi16(_mm256_extracti128_si256(change, 1)));
      _mm256_store_si256(stored + 2 * k, counts[2 * k]);
      _mm256_store_si256(stored + 2 * k + 1, counts[2 * k + 1]);
    }
    edges.x = _mm256_add_epi8(edges.x, _mm256_set1_epi8(1));
  }
}

constexpr RankWindows v3{move_v3, {select_v3<2>, select_v3<4>, select_v3<8>}, under_mask_v3};

// ---- x86-64-v4

IMPIPE_TARGET_v4 void move_v4(ColumnCounts* columns, const std::uint8_t* added,
                              const std::uint8_t* removed, int count) {
  const __m512i one = _mm512_set1_epi8(1);
  alignas(64) std::int8_t numbers[buckets];
  for (int t = 0; t < buckets; ++t) numbers[t] = static_cast<std::int8_t>(t);
  for (int i = 0; i < count; ++i) {
    const __m512i a = _mm512_set1_epi8(static_cast<char>(added[i]));
    const __m512i r = _mm512_set1_epi8(static_cast<char>(removed == nullptr ? 0 : removed[i]));
    for (int k = 0; k < buckets / 64; ++k) {
      auto* entries = reinterpret_cast<__m512i*>(columns[i].up_to) + k;
      const __m512i t = _mm512_load_si512(numbers + 64 * k);
      __m512i sum = _mm512_load_si512(entries);
      sum = _mm512_mask_add_epi8(sum, _mm512_cmpge_epi8_mask(t, a), sum, one);
      if (removed != nullptr) {
        sum = _mm512_mask_sub_epi8(sum, _mm512_cmpge_epi8_mask(t, r), sum, one);
      }
      _mm512_store_si512(entries, sum);
    }
  }
}

struct Edges_v4 {
  __m512i x, y, width, height;
};
IMPIPE_TARGET_v4 IMPIPE_RANK_INLINE std::uint64_t inside_v4(const TilePlaces& places, int i,
                                                            const Edges_v4& edges) {
  const __m512i x = _mm512_sub_epi8(_mm512_load_si512(places.x + i), edges.x);
  const __m512i y = _mm512_sub_epi8(_mm512_load_si512(places.y + i), edges.y);
  return _mm512_mask_cmplt_epu8_mask(_mm512_cmplt_epu8_mask(x, edges.width), y, edges.height);
}

IMPIPE_TARGET_v4 void inside_all_v4(const TilePlaces& places, int bucket, int x,
                                    const WindowRow& row, std::uint64_t* bits) {
  const Edges_v4 edges{_mm512_set1_epi8(static_cast<char>(x)),
                       _mm512_set1_epi8(static_cast<char>(row.y)),
                       _mm512_set1_epi8(static_cast<char>(row.width)),
                       _mm512_set1_epi8(static_cast<char>(row.height))};
  for (int k = 0; k < (1 << places.bucket_shift) / block; ++k) {
    bits[k] = inside_v4(places, (bucket << places.bucket_shift) + k * block, edges);
  }
}

IMPIPE_TARGET_v4 void count_v4(std::uint16_t* counts, const std::uint8_t* codes,
                               const int* entering, const int* leaving, int n) {
  __m512i low = _mm512_setzero_si512(), high = _mm512_setzero_si512();
  for (int i = 0; i < n; ++i) {
    const std::int8_t* enters = steps.of[codes[entering[i]]];
    low = _mm512_add_epi8(low, _mm512_load_si512(enters));
    high = _mm512_add_epi8(high, _mm512_load_si512(enters + 64));
    if (leaving == nullptr) continue;
    const std::int8_t* leaves = steps.of[codes[leaving[i]]];
    low = _mm512_sub_epi8(low, _mm512_load_si512(leaves));
    high = _mm512_sub_epi8(high, _mm512_load_si512(leaves + 64));
  }
  auto* stored = reinterpret_cast<__m512i*>(counts);
  stored[0] = _mm512_add_epi16(stored[0], _mm512_cvtepi8_epi16(_mm512_castsi512_si256(low)));
  stored[1] = _mm512_add_epi16(stored[1], _mm512_cvtepi8_epi16(_mm512_extracti64x4_epi64(low, 1)));
  stored[2] = _mm512_add_epi16(stored[2], _mm512_cvtepi8_epi16(_mm512_castsi512_si256(high)));
  stored[3] = _mm512_add_epi16(stored[3], _mm512_cvtepi8_epi16(_mm512_extracti64x4_epi64(high, 1)));
}

IMPIPE_TARGET_v4 void under_mask_v4(const WindowRow& row, const MaskCells& mask,
                                    const TilePlaces& places, const std::uint8_t* codes,
                                    std::uint16_t* numbers, std::uint16_t* next) {
  select_under_mask(row, mask, places, codes, numbers, next, count_v4, inside_all_v4);
}

template <int blocks>
IMPIPE_TARGET_v4 IMPIPE_RANK_INLINE int find_with_v4(const TilePlaces& places, int bucket,
                                                     const Edges_v4& edges, int rank) {
  const int first = bucket * blocks * block;
  std::uint64_t inside[blocks];
  for (int k = 0; k < blocks; ++k) inside[k] = inside_v4(places, first + k * block, edges);
  int at = 0, before = 0, sum = 0;
  for (int k = 0; k + 1 < blocks; ++k) {
    sum += static_cast<int>(_mm_popcnt_u64(inside[k]));
    at += rank >= sum;
    before = rank >= sum ? sum : before;
  }
  const std::uint64_t wanted = _pdep_u64(1ull << (rank - before), inside[at]);
  return first + at * block + static_cast<int>(_tzcnt_u64(wanted));
}

IMPIPE_TARGET_v4 IMPIPE_RANK_INLINE int bucket_v4(const __m512i* counts, __m512i rank) {
  int sum = 0;
  for (int k = 0; k < buckets / 64; ++k) {
    const std::uint64_t low = _mm512_cmple_epu16_mask(counts[2 * k], rank);
    const std::uint64_t high = _mm512_cmple_epu16_mask(counts[2 * k + 1], rank);
    sum += static_cast<int>(_mm_popcnt_u64(low | high << 32));
  }
  return sum;
}

template <int blocks>
IMPIPE_TARGET_v4 void select_v4(const WindowRow& row, const TilePlaces& places,
                                const ColumnCounts* columns, std::uint16_t* numbers,
                                std::uint16_t* next) {
  WindowCounts window;
  std::uint16_t* up_to = window.up_to();
  for (int x = 0; x < row.width; ++x) add_column(up_to, columns[x]);
  Edges_v4 edges{_mm512_setzero_si512(), _mm512_set1_epi8(static_cast<char>(row.y)),
                 _mm512_set1_epi8(static_cast<char>(row.width)),
                 _mm512_set1_epi8(static_cast<char>(row.height))};
  const __m512i rank = _mm512_set1_epi16(static_cast<short>(row.rank));
  const __m512i rank_after = _mm512_set1_epi16(static_cast<short>(row.rank + 1));
  __m512i counts[buckets / 32];
  for (int k = 0; k < buckets / 32; ++k) counts[k] = _mm512_load_si512(up_to + 32 * k);
  for (int x = 0;; ++x) {
    const int bucket = bucket_v4(counts, rank);
    numbers[x] = static_cast<std::uint16_t>(
        find_with_v4<blocks>(places, bucket, edges, row.rank - up_to[bucket - 1]));
    if (next != nullptr) {
      const int after = bucket_v4(counts, rank_after);
      next[x] = static_cast<std::uint16_t>(
          find_with_v4<blocks>(places, after, edges, row.rank + 1 - up_to[after - 1]));
    }
    if (x + 1 == row.count) return;
    const std::int8_t* right = columns[x + row.width].up_to;
    const std::int8_t* left = columns[x].up_to;
    for (int k = 0; k < buckets / 64; ++k) {
      const __m512i change =
          _mm512_sub_epi8(_mm512_load_si512(right + 64 * k), _mm512_load_si512(left + 64 * k));
      counts[2 * k] =
          _mm512_add_epi16(counts[2 * k], _mm512_cvtepi8_epi16(_mm512_castsi512_si256(change)));
      counts[2 * k + 1] = _mm512_add_epi16(
          counts[2 * k + 1], _mm512_cvtepi8_epi16(_mm512_extracti64x4_epi64(change, 1)));
      _mm512_store_si512(up_to + 64 * k, counts[2 * k]);
      _mm512_store_si512(up_to + 64 * k + 32, counts[2 * k + 1]);
    }
    edges.x = _mm512_add_epi8(edges.x, _mm512_set1_epi8(1));
  }
}

constexpr RankWindows v4{move_v4, {select_v4<2>, select_v4<4>, select_v4<8>}, under_mask_v4};

#endif

}  // namespace

const RankWindows& rank_windows(CpuLevel level) {
#if IMPIPE_HAS_INTRINSICS
  if (level == CpuLevel::v4) return v4;
  if (level == CpuLevel::v3) return v3;
#endif
  (void)level;
  return baseline;
}

}  // namespace impipe::cpu
