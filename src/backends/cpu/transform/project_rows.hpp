// The inner part of the Radon transform, compiled for each instruction set: sums of strips
// (core/rays.hpp) over rows of a frame.
#pragma once

#include <cstdint>

#include "backends/cpu/simd/level.hpp"

namespace impipe::cpu {

inline constexpr std::int64_t strips_at_once = 16;
// Zeros that stand before and behind each row of pixels.
inline constexpr std::int64_t strip_margin = strips_at_once;

// Sums of strips over their pixels I. Of the strip's bins 0 .. 3 a pixel's part in bins 1 .. 3, in
// bins 2 .. 3 and in bin 3 is a quarter of `first`, `second` and `third`; the three add up to four
// times the pixel's place after bin 0, so that the third follows from `offsets`.
template <class T>
struct alignas(64) StripSums {
  T all[strips_at_once] = {};      // of I
  T offsets[strips_at_once] = {};  // of I times its distance from the strip's middle
  T first[strips_at_once] = {};
  T second[strips_at_once] = {};
};

// Where a row of pixels lies along the projection, the same for all strips.
struct RowPlace {
  std::int64_t shift = 0;
  float offset = 0;        // of its pixels from their strips' middles
  float quarters[4] = {};  // of the four parts of a pixel
};

// The rows from .. to - 1 of the strips j .. j + 15. pixels: of u = 0 in row 0; places: one a row;
// after: of each strip's middle after its bin 0.
struct StripRows {
  const float* pixels = nullptr;
  std::int64_t stride = 0;  // pixels from one row to the next
  std::int64_t first_u = 0, last_u = 0;
  const RowPlace* places = nullptr;
  std::int64_t from = 0, to = 0;
};
using SumRows = void (*)(const StripRows& rows, std::int64_t j, const float* after,
                         StripSums<float>& sums);
SumRows sum_rows(CpuLevel level);

}  // namespace impipe::cpu
