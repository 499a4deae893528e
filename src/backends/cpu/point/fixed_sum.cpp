// Weighted sums of two byte images in integers: four times as many at once as in float32.
#include "backends/cpu/point/fixed_sum.hpp"

#include <algorithm>
#include <cmath>

#include "backends/cpu/simd/intrinsics.hpp"

namespace impipe::cpu {
namespace {

#if IMPIPE_HAS_INTRINSICS
// Bytes of both images side by side become pairs of 16-bit numbers, whose weighted sum is one
// instruction. Packing puts back the order that unpacking within 128 bits has changed.
IMPIPE_TARGET_v4 inline __m512i four_codes_v4(__m512i pairs, __m512i weights, __m512i offset,
                                              __m128i shift) {
  return _mm512_sra_epi32(_mm512_add_epi32(_mm512_madd_epi16(pairs, weights), offset), shift);
}

IMPIPE_TARGET_v4 void fixed_sum_v4(const FixedSum& sum, std::uint8_t* out, const std::uint8_t* a,
                                   const std::uint8_t* b, std::int64_t n) {
  const std::uint32_t both = static_cast<std::uint16_t>(sum.first) |
                             static_cast<std::uint32_t>(static_cast<std::uint16_t>(sum.second))
                                 << 16;
  const __m512i weights = _mm512_set1_epi32(static_cast<int>(both));
  const __m512i offset = _mm512_set1_epi32(sum.offset), zero = _mm512_setzero_si512();
  const __m128i shift = _mm_cvtsi32_si128(sum.shift);
  std::int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    const __m512i x = _mm512_loadu_si512(a + i), y = _mm512_loadu_si512(b + i);
    const __m512i low = _mm512_unpacklo_epi8(x, y), high = _mm512_unpackhi_epi8(x, y);
    const __m512i first =
        _mm512_packs_epi32(four_codes_v4(_mm512_unpacklo_epi8(low, zero), weights, offset, shift),
                           four_codes_v4(_mm512_unpackhi_epi8(low, zero), weights, offset, shift));
    const __m512i second =
        _mm512_packs_epi32(four_codes_v4(_mm512_unpacklo_epi8(high, zero), weights, offset, shift),
                           four_codes_v4(_mm512_unpackhi_epi8(high, zero), weights, offset, shift));
    _mm512_storeu_si512(out + i, _mm512_packus_epi16(first, second));
  }
  for (; i < n; ++i) out[i] = sum.code(a[i], b[i]);
}

IMPIPE_TARGET_v3 inline __m256i four_codes_v3(__m256i pairs, __m256i weights, __m256i offset,
                                              __m128i shift) {
  return _mm256_sra_epi32(_mm256_add_epi32(_mm256_madd_epi16(pairs, weights), offset), shift);
}

IMPIPE_TARGET_v3 void fixed_sum_v3(const FixedSum& sum, std::uint8_t* out, const std::uint8_t* a,
                                   const std::uint8_t* b, std::int64_t n) {
  const std::uint32_t both = static_cast<std::uint16_t>(sum.first) |
                             static_cast<std::uint32_t>(static_cast<std::uint16_t>(sum.second))
                                 << 16;
  const __m256i weights = _mm256_set1_epi32(static_cast<int>(both));
  const __m256i offset = _mm256_set1_epi32(sum.offset), zero = _mm256_setzero_si256();
  const __m128i shift = _mm_cvtsi32_si128(sum.shift);
  std::int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + i));
    const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + i));
    const __m256i low = _mm256_unpacklo_epi8(x, y), high = _mm256_unpackhi_epi8(x, y);
    const __m256i first =
        _mm256_packs_epi32(four_codes_v3(_mm256_unpacklo_epi8(low, zero), weights, offset, shift),
                           four_codes_v3(_mm256_unpackhi_epi8(low, zero), weights, offset, shift));
    const __m256i second =
        _mm256_packs_epi32(four_codes_v3(_mm256_unpacklo_epi8(high, zero), weights, offset, shift),
                           four_codes_v3(_mm256_unpackhi_epi8(high, zero), weights, offset, shift));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_packus_epi16(first, second));
  }
  for (; i < n; ++i) out[i] = sum.code(a[i], b[i]);
}
#endif

}  // namespace

std::optional<FixedSum> fixed_sum_through(double origin, double at_first, double at_second) {
  const double first = (at_first - origin) / 255, second = (at_second - origin) / 255;
  const double largest = std::max(std::fabs(first), std::fabs(second));
  constexpr double max_weight = 32767;
  // Sums of two products of 16 and 8 bits leave this much for the offset.
  constexpr double max_offset = 1 << 30;
  for (int shift = 15; shift >= 8; --shift) {
    const double unit = 1 << shift;
    const double offset = std::floor((origin + 0.5) * unit + 0.5);
    if (!(largest * unit <= max_weight) || !(std::fabs(offset) < max_offset)) continue;
    return FixedSum{static_cast<std::int16_t>(std::lround(first * unit)),
                    static_cast<std::int16_t>(std::lround(second * unit)),
                    static_cast<std::int32_t>(offset), shift};
  }
  return std::nullopt;
}

void run_fixed_sum(const FixedSum& sum, std::uint8_t* out, const std::uint8_t* a,
                   const std::uint8_t* b, std::int64_t n, [[maybe_unused]] CpuLevel level) {
#if IMPIPE_HAS_INTRINSICS
  if (level == CpuLevel::v4) return fixed_sum_v4(sum, out, a, b, n);
  if (level == CpuLevel::v3) return fixed_sum_v3(sum, out, a, b, n);
#endif
  for (std::int64_t i = 0; i < n; ++i) out[i] = sum.code(a[i], b[i]);
}

}  // namespace impipe::cpu
