// Windows over a tile: sums of column counts, and the search through one bucket.
#include "backends/cpu/neighbourhood/rank_window.hpp"

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {

#if IMPIPE_HAS_INTRINSICS
namespace {

constexpr int block = 64;  // values of a bucket that are looked at together

// The window's counts; entry -1, before the first bucket, is 0.
struct alignas(64) WindowCounts {
  static constexpr int first = 32;
  std::uint16_t entries[first + buckets] = {};
  std::uint16_t* up_to() { return entries + first; }
};

// In a loop that the compiler vectorises.
IMPIPE_INLINE void add_column(std::uint16_t* counts, const ColumnCounts& column) {
  for (int t = 0; t < buckets; ++t) {
    counts[t] = static_cast<std::uint16_t>(counts[t] + column.up_to[t]);
  }
}

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

#define IMPIPE_KERNELS "backends/cpu/neighbourhood/rank_window.inc"
#include "backends/cpu/simd/vector_levels.inc"

}  // namespace

const RankWindows& rank_windows(CpuLevel level) {
  return level == CpuLevel::v4 ? v4::windows : v3::windows;
}
#else
const RankWindows& rank_windows(CpuLevel) {
  static constexpr RankWindows none{};
  return none;
}
#endif

}  // namespace impipe::cpu
