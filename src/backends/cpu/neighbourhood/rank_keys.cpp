// Rows of floats to keys and back.
#include "backends/cpu/neighbourhood/rank_keys.hpp"

#include <cstddef>
#include <cstring>

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

// Two halves of the row at a time: one comparison tells whether either of two values is NaN.
IMPIPE_INLINE bool has_nan(const float* row, std::int64_t n) {
  const std::int64_t half = (n + 1) / 2;
  const float* second = row + n - half;
  int found = 0;
  for (std::int64_t i = 0; i < half; ++i) found |= __builtin_isunordered(row[i], second[i]);
  return found != 0;
}

IMPIPE_INLINE void keys_from_row(std::int32_t* __restrict keys, const float* row, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) keys[i] = rank_key(row[i]);
}

IMPIPE_INLINE void values_of_keys(std::byte* row, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::int32_t key;
    std::memcpy(&key, row + 4 * i, sizeof key);
    const float value = value_of_rank_key(key);
    std::memcpy(row + 4 * i, &value, sizeof value);
  }
}

#define IMPIPE_KERNELS "backends/cpu/neighbourhood/rank_keys.inc"
#include "backends/cpu/simd/each_level.inc"

}  // namespace

const RankKeys& rank_keys(CpuLevel level) { return IMPIPE_AT_LEVEL(level, Keys::table); }

}  // namespace impipe::cpu
