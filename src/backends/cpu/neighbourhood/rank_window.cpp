// Windows over a tile: sums of column counts, and the search through one bucket.
#include "backends/cpu/neighbourhood/rank_window.hpp"

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

constexpr int block = 64;  // values of a bucket that are looked at together

// The window's counts; entry -1, before the first bucket, is 0.
struct alignas(64) WindowCounts {
  static constexpr int first = 32;
  std::uint16_t entries[first + buckets] = {};
  std::uint16_t* up_to() { return entries + first; }
};

// ---- a column, in a loop that the compiler vectorises

IMPIPE_INLINE void add_column(std::uint16_t* counts, const ColumnCounts& column) {
  for (int t = 0; t < buckets; ++t) {
    counts[t] = static_cast<std::uint16_t>(counts[t] + column.up_to[t]);
  }
}

// ---- masks, with what differs between instruction sets as functions

// [code]: what a value of that code adds to the counts up to each bucket.
struct alignas(64) StepTable {
  std::uint8_t of[buckets][buckets];
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
  for (int i = 0; i < count; ++i) {
    std::uint8_t* up_to = columns[i].up_to;
    const std::uint8_t a = added[i];
    if (removed == nullptr) {
      for (int t = 0; t < buckets; ++t) {
        up_to[t] = static_cast<std::uint8_t>(up_to[t] + (static_cast<std::uint8_t>(t) >= a));
      }
    } else {
      const std::uint8_t r = removed[i];
      for (int t = 0; t < buckets; ++t) {
        up_to[t] = static_cast<std::uint8_t>(up_to[t] + (static_cast<std::uint8_t>(t) >= a) -
                                             (static_cast<std::uint8_t>(t) >= r));
      }
    }
  }
}

void count_baseline(std::uint16_t* counts, const std::uint8_t* codes, const int* entering,
                    const int* leaving, int n) {
  for (int i = 0; i < n; ++i) {
    const std::uint8_t* enters = steps.of[codes[entering[i]]];
    for (int t = 0; t < buckets; ++t) {
      counts[t] = static_cast<std::uint16_t>(counts[t] + enters[t]);
    }
    if (leaving == nullptr) continue;
    const std::uint8_t* leaves = steps.of[codes[leaving[i]]];
    for (int t = 0; t < buckets; ++t) {
      counts[t] = static_cast<std::uint16_t>(counts[t] - leaves[t]);
    }
  }
}

void under_mask_baseline(const WindowRow& row, const MaskCells& mask, const TilePlaces& places,
                         const std::uint8_t* codes, std::uint16_t* numbers, std::uint16_t* next) {
  select_under_mask(row, mask, places, codes, numbers, next, count_baseline, inside_baseline);
}

constexpr RankWindows baseline{move_baseline,
                               {{select_baseline, select_baseline, select_baseline},
                                {select_baseline, select_baseline, select_baseline}},
                               under_mask_baseline};

#if IMPIPE_HAS_INTRINSICS
#define IMPIPE_VECTORS_ONLY
#define IMPIPE_KERNELS "backends/cpu/neighbourhood/rank_window.inc"
#include "backends/cpu/simd/each_level.inc"
#endif

}  // namespace

const RankWindows& rank_windows(CpuLevel level) {
#if IMPIPE_HAS_INTRINSICS
  if (level == CpuLevel::v4) return v4::windows;
  if (level == CpuLevel::v3) return v3::windows;
#endif
  (void)level;
  return baseline;
}

}  // namespace impipe::cpu
