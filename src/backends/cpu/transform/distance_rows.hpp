// The inner parts of the distance transform, compiled for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/simd/level.hpp"
#include "core/kernel_spec.hpp"

namespace impipe::cpu {

// Columns are scanned a band of rows at a time, so that a band stays in the cache.
inline constexpr std::int64_t distance_band = 16;

// Rows of one channel of any class; a row is `stride` bytes from the next.
struct BandRows {
  const std::byte* data = nullptr;
  std::int64_t stride = 0, width = 0, height = 0;
};

// Of each column of a band the first and the last set row, counted from 1; 0: none.
using MarkBand = void (*)(const BandRows& band, std::uint8_t* first, std::uint8_t* last);
MarkBand mark_band(PixelClass cls, CpuLevel level);

// Of each pixel of a band the nearest set row, the upper one of two, as rows of int32. above,
// below: the nearest set rows of each column over and under the band; y0: the band's first row.
struct NearestRows {
  const std::int32_t* above = nullptr;
  const std::int32_t* below = nullptr;
  std::byte* out = nullptr;
  std::int64_t stride = 0;
};
using FillBand = void (*)(const BandRows& band, std::int64_t y0, const NearestRows& nearest);
FillBand fill_band(PixelClass cls, CpuLevel level);

// One row of results from the nearest set rows of its columns, in place: int32 before, float after.
struct DistanceRow {
  std::byte* data = nullptr;
  std::int64_t width = 0, height = 0, y = 0;
  // More than any distance in the image; a column whose nearest row is as far away has none.
  std::int64_t none = 0;
  void* scratch = nullptr;  // distance_scratch_bytes(width), at a multiple of 64 bytes
};
std::int64_t distance_scratch_bytes(std::int64_t width);
using FinishRow = void (*)(const DistanceRow& row);
// wide: squared distances need more than 31 bits.
FinishRow finish_row(const Distance& distance, bool wide, CpuLevel level);

}  // namespace impipe::cpu
