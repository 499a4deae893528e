// The inner parts of resampling for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cpu/simd/level.hpp"
#include "core/image.hpp"

namespace impipe::cpu {

inline constexpr int resize_rows = 16;  // output rows that are made together, one in each lane

// rows: [resize_rows][stride], of which n columns become lanes: [n][resize_rows]; and back.
using TurnRows = void (*)(float* lanes, float* rows, std::int64_t stride, std::int64_t n);
TurnRows rows_to_lanes(CpuLevel level);
TurnRows lanes_to_rows(CpuLevel level);

// out[resize_rows] of one output pixel: the sum of weights[t] * in[t][...], t in order, each an fma
// into 0.
using SumLanes = void (*)(float* out, const float* in, const float* weights, int taps);
SumLanes sum_lanes(CpuLevel level);

// out[i] for i < n: the sum of weights[t] * rows[t][i], t in order, each an fma into 0. rows:
// pixels of the class.
using SumRows = void (*)(float* out, const std::byte* const* rows, const float* weights, int taps,
                         std::int64_t n);
SumRows sum_rows(PixelClass cls, int taps, CpuLevel level);

// A row's sums where the inputs of neighbouring outputs are near each other: a few vectors of
// inputs, one behind the other, have what a tap of a vector of outputs reads. Block b is one vector
// of output pixels.
struct SpreadTable {
  int lanes = 0;    // elements of a vector; 0: there is no table
  int vectors = 1;  // of inputs: 1, 2 or 4
  int taps = 0;
  bool repeats = false;              // all blocks have the same places and weights
  std::vector<std::int32_t> first;   // [blocks]: the input element that tap 0's vector begins with
  std::vector<std::int32_t> places;  // [blocks][lanes]: elements of those vectors
  std::vector<float> weights;        // [blocks][taps][lanes]
};
int spread_lanes(CpuLevel level);  // 0: the level has none

// Rows that are spread together: what a table has is loaded once for all of them.
inline constexpr int spread_rows = 4;
struct SpreadRows {
  // Of the first row; the others are `stride` elements behind each other.
  const float* in = nullptr;  // from element `origin` on, with mirrored columns before and behind
                              // it; table.vectors beyond are read
  std::int64_t in_stride = 0, origin = 0;
  float* out = nullptr;  // a vector beyond the last is written too
  std::int64_t out_stride = 0;
};
// The outputs of blocks [block, end).
using SpreadRow = void (*)(const SpreadTable& table, std::int64_t block, std::int64_t end,
                           const SpreadRows& rows);
SpreadRow spread_row(const SpreadTable& table, CpuLevel level);

// out[i] for i < n: the mean of pixels 2 i and 2 i + 1 of two rows; of codes halves are rounded up,
// of singles the columns' means come first. Null where there is none.
using HalveRow = void (*)(std::byte* out, const std::byte* upper, const std::byte* lower,
                          std::int64_t n);
HalveRow halve_row(PixelClass cls, CpuLevel level);

// out[2 i] and out[2 i + 1] for i < n: three quarters of two rows' sum at i and a quarter of that
// at its neighbour, where the nearer row has three quarters; of codes, halves are rounded up.
// between: room for n + 2 numbers, each of two codes' size. Null where there is none.
using DoubleRow = void (*)(std::byte* out, const std::byte* nearer, const std::byte* farther,
                           std::int64_t n, std::byte* between);
DoubleRow double_row(PixelClass cls, CpuLevel level);

}  // namespace impipe::cpu
