// A block of pixels has few runs: how many begin up to a pixel says which of the next values it
// gets, so that the cost does not depend on how long the runs are.
#include "backends/cpu/tile/run_values.hpp"

#include <array>

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
std::int64_t find_runs(const std::uint64_t* bits, std::int64_t count, std::int32_t* begins,
                       std::int32_t* ends) {
  const std::int32_t* const first = begins;
  std::uint64_t carry = 0;
  for (std::int64_t at = 0; at < count; at += 64, ++bits) {
    const auto x = static_cast<std::int32_t>(at);
    const std::uint64_t word = *bits, before = word << 1 | carry;
    carry = word >> 63;
    for (std::uint64_t set = word & ~before; set != 0; set &= set - 1) {
      *begins++ = x + __builtin_ctzll(set);
    }
    for (std::uint64_t set = ~word & before; set != 0; set &= set - 1) {
      *ends++ = x + __builtin_ctzll(set);
    }
  }
  if (carry != 0) *ends = static_cast<std::int32_t>(count);
  return begins - first;
}

namespace {

void write_baseline(const std::uint64_t* bits, const float* values, std::int64_t count,
                    float* out) {
  bool open = false;
  for (std::int64_t x = 0; x < count; ++x) {
    const bool set = (bits[x / 64] >> x % 64 & 1) != 0;
    if (set && !open) ++values;
    open = set;
    out[x] = set ? *values : 0;
  }
}

#if IMPIPE_HAS_INTRINSICS
// Byte k of the element for a byte of bits: how many of its bits 0 to k are set.
constexpr std::array<std::uint64_t, 256> counts_up_to = [] {
  std::array<std::uint64_t, 256> counts{};
  for (int bits = 0; bits < 256; ++bits) {
    std::uint64_t sum = 0;
    for (int k = 0; k < 8; ++k) {
      sum += bits >> k & 1;
      counts[static_cast<std::size_t>(bits)] |= sum << 8 * k;
    }
  }
  return counts;
}();
constexpr const std::uint64_t* counts_table = counts_up_to.data();

#define IMPIPE_KERNELS "backends/cpu/tile/run_values.inc"
#include "backends/cpu/simd/vector_levels.inc"
#endif

}  // namespace

void write_run_values(const std::uint64_t* bits, const float* values, std::int64_t count,
                      float* out, CpuLevel level) {
  IMPIPE_VECTORS_OR(level, write_baseline, write)(bits, values, count, out);
}

}  // namespace impipe::cpu
