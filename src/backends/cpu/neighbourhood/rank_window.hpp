// What moves a window over a tile of numbered values, compiled for each instruction set.
#pragma once

#include <cstdint>

#include "backends/cpu/neighbourhood/rank_tile.hpp"
#include "core/body.hpp"

namespace impipe::cpu {

// A column's counts: entry t says how many of its pixels in the rows of the window are in buckets
// up to t. Adding two neighbouring columns adds their entries, and the bucket of a rank is the
// number of entries that don't exceed it. Differences of two of them fit a byte up to
// max_low_window rows.
inline constexpr int max_low_window = 127, max_window_height = 255;
struct alignas(64) ColumnCounts {
  std::uint8_t up_to[buckets];
};

// Where the numbers of a bucket lie: those of one tile.
struct TilePlaces {
  const std::uint8_t* x = nullptr;
  const std::uint8_t* y = nullptr;
  int bucket_shift = 0;
};

// A row of windows, the first at column 0 and row y of the tile.
struct WindowRow {
  int width = 0, height = 0;  // of the window
  int y = 0;
  int count = 0;  // windows
  int rank = 0;   // 0-based
};

// A mask by its set cells, and by those that enter and leave when the window moves from x to x + 1.
// Places are counted from the window's first code, at x.
struct MaskCells {
  const int* all = nullptr;
  int count = 0;
  const int* entering = nullptr;
  const int* leaving = nullptr;
  int moving = 0;                     // of each
  const std::uint8_t* set = nullptr;  // [height][width]
};

struct RankWindows {
  // Adds a row's codes to `count` columns, and takes away those of another row unless it is null.
  void (*move_columns)(ColumnCounts* columns, const std::uint8_t* added,
                       const std::uint8_t* removed, int count);
  // numbers[i] = that of the rank-th smallest value of window i; next[i] of the one after it,
  // unless `next` is null. One a size of buckets, from the min_bucket_shift on, for windows of up
  // to max_low_window rows, and the same for higher ones.
  using Select = void (*)(const WindowRow& row, const TilePlaces& places,
                          const ColumnCounts* columns, std::uint16_t* numbers, std::uint16_t* next);
  Select select[2][max_bucket_shift - min_bucket_shift + 1];
  // The same under a mask. codes: of the tile.
  void (*select_under_mask)(const WindowRow& row, const MaskCells& mask, const TilePlaces& places,
                            const std::uint8_t* codes, std::uint16_t* numbers, std::uint16_t* next);
};

// Not of the baseline, on which a sliding histogram is faster.
const RankWindows& rank_windows(CpuLevel level);

}  // namespace impipe::cpu
