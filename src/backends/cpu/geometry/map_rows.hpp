// A row of an image that is moved by any map, for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/geometry/place_rule.hpp"
#include "backends/cpu/simd/level.hpp"

namespace impipe::cpu {

// Output pixels [first, first + n) of a row, at most 256.
struct MapPart {
  PlaceRow places;
  const std::byte* data = nullptr;  // the input
  std::int64_t stride = 0;          // bytes
  std::int64_t width = 0, height = 0;
  std::int64_t first = 0, n = 0;
  float outside = 0;
};
// As numbers; nothing is rounded to the class.
using MapRow = void (*)(const MapPart& part, float* out);
MapRow map_row(PixelClass cls, const Resample& resample, CpuLevel level);

}  // namespace impipe::cpu
