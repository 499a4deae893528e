// How far apart the bytes of two rows are. One of two saturated differences is 0, so both of them
// together are the distance.
#include "backends/cpu/tile/byte_difference.hpp"

#include <algorithm>

#include "backends/cpu/simd/intrinsics.hpp"
#include "backends/cpu/simd/level.hpp"

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
constexpr std::int64_t most_squared = 65536;
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
constexpr std::int64_t bytes_ahead = 1024;
template <class T>
IMPIPE_INLINE void ask_for(const T* from) {
  _mm_prefetch(reinterpret_cast<const char*>(from + bytes_ahead), _MM_HINT_T0);
}

IMPIPE_TARGET_v4 inline __m512i squares_v4(const std::uint8_t* a, const std::uint8_t* b) {
  ask_for(a);
  ask_for(b);
  const __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b);
  const __m512i zero = _mm512_setzero_si512();
  const __m512i apart = _mm512_or_si512(_mm512_subs_epu8(x, y), _mm512_subs_epu8(y, x));
  const __m512i low = _mm512_unpacklo_epi8(apart, zero), high = _mm512_unpackhi_epi8(apart, zero);
  return _mm512_add_epi32(_mm512_madd_epi16(low, low), _mm512_madd_epi16(high, high));
}
IMPIPE_TARGET_v4 std::int64_t squared_v4(const std::uint8_t* a, const std::uint8_t* b,
                                         std::int64_t n) {
  __m512i sums[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
  std::int64_t i = 0;
  for (; i + 128 <= n; i += 128) {
    sums[0] = _mm512_add_epi32(sums[0], squares_v4(a + i, b + i));
    sums[1] = _mm512_add_epi32(sums[1], squares_v4(a + i + 64, b + i + 64));
  }
  // Each of the numbers has 31 bits at most, all together 32.
  const auto sum =
      static_cast<std::uint32_t>(_mm512_reduce_add_epi32(_mm512_add_epi32(sums[0], sums[1])));
  return sum + squared_plain(a + i, b + i, n - i);
}

IMPIPE_TARGET_v3 inline __m256i squares_v3(const std::uint8_t* a, const std::uint8_t* b) {
  const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a));
  const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
  const __m256i zero = _mm256_setzero_si256();
  const __m256i apart = _mm256_or_si256(_mm256_subs_epu8(x, y), _mm256_subs_epu8(y, x));
  const __m256i low = _mm256_unpacklo_epi8(apart, zero), high = _mm256_unpackhi_epi8(apart, zero);
  return _mm256_add_epi32(_mm256_madd_epi16(low, low), _mm256_madd_epi16(high, high));
}
IMPIPE_TARGET_v3 std::int64_t squared_v3(const std::uint8_t* a, const std::uint8_t* b,
                                         std::int64_t n) {
  __m256i sums[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  std::int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    ask_for(a + i);
    ask_for(b + i);
    sums[0] = _mm256_add_epi32(sums[0], squares_v3(a + i, b + i));
    sums[1] = _mm256_add_epi32(sums[1], squares_v3(a + i + 32, b + i + 32));
  }
  std::uint32_t of_lanes[8], sum = 0;
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(of_lanes), _mm256_add_epi32(sums[0], sums[1]));
  for (const std::uint32_t of_lane : of_lanes) sum += of_lane;
  return sum + squared_plain(a + i, b + i, n - i);
}
#endif

std::int64_t squared(const std::uint8_t* a, const std::uint8_t* b, std::int64_t n,
                     [[maybe_unused]] CpuLevel level) {
#if IMPIPE_HAS_INTRINSICS
  if (level == CpuLevel::v4) return squared_v4(a, b, n);
  if (level == CpuLevel::v3) return squared_v3(a, b, n);
#endif
  return squared_plain(a, b, n);
}

}  // namespace

void byte_differences(std::uint8_t* out, const std::uint8_t* a, const std::uint8_t* b,
                      std::int64_t n, CpuLevel level) {
  differences<>[static_cast<int>(level)](out, a, b, n);
}

std::int64_t squared_byte_differences(const std::uint8_t* a, const std::uint8_t* b, std::int64_t n,
                                      CpuLevel level) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < n; i += most_squared) {
    sum += squared(a + i, b + i, std::min(most_squared, n - i), level);
  }
  return sum;
}

}  // namespace impipe::cpu
