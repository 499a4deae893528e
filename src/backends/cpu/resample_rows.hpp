// The inner parts of resampling for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/level.hpp"
#include "core/image.hpp"

namespace impipe::cpu {

inline constexpr int resize_rows = 16;  // output rows that are made together, one in each lane

// rows: [resize_rows][stride], of which n columns become lanes: [n][resize_rows]; and back.
using TurnRows = void (*)(float* lanes, float* rows, std::int64_t stride, std::int64_t n);
TurnRows rows_to_lanes(CpuLevel level);
TurnRows lanes_to_rows(CpuLevel level);

// out[channels][resize_rows] of one output pixel: for each channel the sum of weights[t] *
// in[t * channels + channel], t in order, each an fma into 0.
using SumLanes = void (*)(float* out, const float* in, const float* weights, int taps,
                          int channels);
SumLanes sum_lanes(CpuLevel level);

// One row of an affine map: output pixel u lies at (a u + x, d u + y) of the input.
struct AffineRow {
  double a = 1, x = 0, d = 0, y = 0;
  const std::byte* data = nullptr;  // the input
  std::int64_t stride = 0;          // bytes
  std::int64_t width = 0, height = 0;
  int channels = 1;
  std::int64_t n = 0;  // output pixels
  double outside = 0;
};
// As numbers, channels interleaved; nothing is rounded to the class.
using WarpRow = void (*)(const AffineRow& row, float* out);
WarpRow warp_row(PixelClass cls, bool nearest, CpuLevel level);

}  // namespace impipe::cpu
