// The inner part of the Radon transform, compiled for each instruction set. The image is cut into
// strips that run along the rays, one column wide: strip j holds of row r the pixel in column
// j + shift[r], and all of these fall into the same four bins.
#pragma once

#include <cstdint>

#include "backends/cpu/level.hpp"

namespace impipe::cpu {

inline constexpr std::int64_t strips_at_once = 8;
// Zeros that stand before and behind each row of pixels.
inline constexpr std::int64_t strip_margin = 8;

// Sums of eight strips over their pixels I. Of the strip's bins 0 .. 3 a pixel's part in bins
// 1 .. 3, in bins 2 .. 3 and in bin 3 is a quarter of `first`, `second` and `third`; the three add
// up to four times the pixel's place after bin 0, so that the third follows from `offsets`.
struct alignas(64) StripSums {
  double all[strips_at_once] = {};      // of I
  double offsets[strips_at_once] = {};  // of I times its distance from the strip's middle
  double first[strips_at_once] = {};
  double second[strips_at_once] = {};
};

// Where a row of pixels lies along the projection, the same for all strips.
struct RowPlace {
  std::int64_t shift = 0;
  double offset = 0;      // of its pixels from their strips' middles
  double quarters[4] = {};  // of the four parts of a pixel
};

// Adds the rows from .. to - 1 to the sums of the strips j .. j + 7. pixels: of column 0 of row 0;
// places: one a row; base: of each strip's middle after its bin 0.
struct StripRows {
  const float* pixels = nullptr;
  std::int64_t stride = 0;  // pixels from one row to the next
  std::int64_t width = 0;
  const RowPlace* places = nullptr;
  std::int64_t from = 0, to = 0;
};
using AddRows = void (*)(const StripRows& rows, std::int64_t j, const double* base,
                         StripSums& sums);
AddRows add_rows(CpuLevel level);

}  // namespace impipe::cpu
