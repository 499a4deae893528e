// Floats as whole numbers in their order: -0 before 0, NaN last. Comparisons of floats put NaN
// nowhere, so that networks of them lose it or what it is compared with.
#pragma once

#include <bit>
#include <cstdint>

#include "backends/cpu/neighbourhood/one_zero.hpp"
#include "core/body.hpp"

namespace impipe::cpu {

IMPIPE_INLINE std::int32_t rank_key(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value);
  return value != value ? 0x7fc00000 : bits ^ (bits >> 31 & 0x7fffffff);
}
// The float of a key; 0 of -0's, and the same NaN of every NaN's.
IMPIPE_INLINE float value_of_rank_key(std::int32_t key) {
  return one_zero(std::bit_cast<float>(key ^ (key >> 31 & 0x7fffffff)));
}

struct RankKeys {
  bool (*any_nan)(const float* row, std::int64_t n);
  void (*from_row)(std::int32_t* keys, const float* row, std::int64_t n);
  // Keys become floats where they are.
  void (*to_values)(std::byte* row, std::int64_t n);
};
const RankKeys& rank_keys(CpuLevel level);

}  // namespace impipe::cpu
