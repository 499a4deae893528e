// Row operations of a rank filter, compiled per class and instruction set.
#pragma once

#include <cstdint>

#include "core/body.hpp"

namespace impipe::cpu {

// Values are exchanged in blocks of this size, a cache line.
inline constexpr int step_block_bytes = 64;

// One step of a network on rows of values.
struct ChunkStep {
  const void* a = nullptr;
  const void* b = nullptr;
  void* low = nullptr;   // null when it is not needed; may be a or b
  void* high = nullptr;  // likewise
  int blocks = 0;
};

// T: of pixels, or std::int32_t of keys of floats.
template <class T>
struct RankRows {
  // Runs the steps in turn.
  void (*run)(const ChunkStep* steps, int count);
  // out = the mean of a and b: rounded half up for integers, (a + b) / 2 in the class for single.
  void (*average)(T* out, const T* a, const T* b, std::int64_t n);
};

template <class T>
const RankRows<T>& rank_rows(CpuLevel level);

}  // namespace impipe::cpu
