// How far apart the bytes of two rows are.
#include "backends/cpu/tile/byte_difference.hpp"

#include <algorithm>

#include "backends/cpu/simd/level.hpp"
#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

template <class...>
IMPIPE_INLINE void differences_body(std::uint8_t* __restrict out, const std::uint8_t* __restrict a,
                                    const std::uint8_t* __restrict b, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<std::uint8_t>(a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]);
  }
}
IMPIPE_CPU_KERNEL(differences,
                  (std::uint8_t * out, const std::uint8_t* a, const std::uint8_t* b,
                   std::int64_t n),
                  (out, a, b, n))

// Of so few pairs that 32 bits are enough.
constexpr std::int64_t max_squared = 65536;
std::int64_t squared_plain(const std::uint8_t* a, const std::uint8_t* b, std::int64_t n) {
  std::uint32_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const int apart = a[i] - b[i];
    sum += static_cast<std::uint32_t>(apart * apart);
  }
  return sum;
}

#if IMPIPE_HAS_INTRINSICS
// Rows are read from memory a little ahead of their turn, which the processor by itself does only
// up to the end of a page.
constexpr int line = 64;
constexpr std::int64_t bytes_ahead = 1024;

#define IMPIPE_KERNELS "backends/cpu/tile/byte_difference.inc"
#include "backends/cpu/simd/vector_levels.inc"
#endif

std::int64_t squared(const std::uint8_t* a, const std::uint8_t* b, std::int64_t n, CpuLevel level) {
  return IMPIPE_VECTORS_OR(level, squared_plain, squared)(a, b, n);
}

}  // namespace

void byte_differences(std::uint8_t* out, const std::uint8_t* a, const std::uint8_t* b,
                      std::int64_t n, CpuLevel level) {
  differences<>[static_cast<int>(level)](out, a, b, n);
}

std::int64_t squared_byte_differences(const std::uint8_t* a, const std::uint8_t* b, std::int64_t n,
                                      CpuLevel level) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < n; i += max_squared) {
    sum += squared(a + i, b + i, std::min(max_squared, n - i), level);
  }
  return sum;
}

}  // namespace impipe::cpu
