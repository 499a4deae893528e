// The vocabulary of vector kernels for AVX-512; see baseline.hpp. Besides, what only kernels for
// vectors use: whole numbers, doubles, places in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/simd/intrinsics.hpp"
#include "core/body.hpp"

#if IMPIPE_HAS_INTRINSICS
namespace impipe::cpu::simd::v4 {

#define IMPIPE_SIMD IMPIPE_TARGET_v4 inline __attribute__((always_inline))

using Floats = __m512;
using Ints = __m512i;
using Doubles = __m512d;
inline constexpr int lanes = 16, row_vectors = 4;

IMPIPE_SIMD Floats as_bits(Ints v) { return _mm512_castsi512_ps(v); }
IMPIPE_SIMD Ints bits_of(Floats v) { return _mm512_castps_si512(v); }

#define IMPIPE_OP(name) _mm512_##name
#define IMPIPE_WHOLE(name) _mm512_##name##_si512
#include "backends/cpu/simd/both_levels.inc"
#undef IMPIPE_OP
#undef IMPIPE_WHOLE

IMPIPE_SIMD Floats load(const std::uint8_t* p) {
  const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(codes));
}
IMPIPE_SIMD Floats load(const std::uint16_t* p) {
  const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(codes));
}
IMPIPE_SIMD Floats magnitude(Floats v) { return _mm512_abs_ps(v); }
IMPIPE_SIMD void keep(Floats& v) { __asm__("" : "+v"(v)); }

IMPIPE_SIMD Ints load_whole(const std::uint16_t* p) {
  return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
// The numbers of all vectors, in order, as codes; those that are codes keep their values.
IMPIPE_SIMD void store_codes(std::uint8_t* p, const Ints (&v)[4]) {
  for (int k = 0; k < 4; ++k) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + k * lanes), _mm512_cvtepi32_epi8(v[k]));
  }
}
IMPIPE_SIMD void store_codes(std::uint16_t* p, const Ints (&v)[2]) {
  for (int k = 0; k < 2; ++k) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + k * lanes), _mm512_cvtepi32_epi16(v[k]));
  }
}
// Each element with all before it; the last one everywhere.
IMPIPE_SIMD Ints running_sums(Ints v) {
  const __m512i none = _mm512_setzero_si512();
  v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, none, 15));
  v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, none, 14));
  v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, none, 12));
  return _mm512_add_epi32(v, _mm512_alignr_epi32(v, none, 8));
}
IMPIPE_SIMD Ints last_everywhere(Ints v) {
  return _mm512_permutexvar_epi32(_mm512_set1_epi32(15), v);
}
IMPIPE_SIMD Ints shifted_right_signed(Ints v, int bits) {
  return _mm512_srai_epi32(v, static_cast<unsigned>(bits));
}
// Whether one of a's elements is smaller than b's.
IMPIPE_SIMD bool any_smaller(Ints a, Ints b) { return _mm512_cmplt_epi32_mask(a, b) != 0; }
// All elements, modulo 2^32.
IMPIPE_SIMD std::uint32_t sum_of(Ints v) {
  return static_cast<std::uint32_t>(_mm512_reduce_add_epi32(v));
}
IMPIPE_SIMD int first_of(Ints v) { return _mm_cvtsi128_si32(_mm512_castsi512_si128(v)); }
IMPIPE_SIMD Floats permuted(Floats v, const std::int32_t* places) {
  return _mm512_permutexvar_ps(load(places), v);
}
IMPIPE_SIMD Floats permuted(Floats a, Floats b, const std::int32_t* places) {
  return _mm512_permutex2var_ps(a, load(places), b);
}
IMPIPE_SIMD Floats permuted(Floats a, Floats b, Floats c, Floats d, const std::int32_t* places) {
  const __mmask16 behind = _mm512_test_epi32_mask(load(places), _mm512_set1_epi32(2 * lanes));
  return _mm512_mask_blend_ps(behind, permuted(a, b, places), permuted(c, d, places));
}
IMPIPE_SIMD Floats permuted(Floats v, Ints places) { return _mm512_permutexvar_ps(places, v); }
// Bytes, eight in each of the numbers.
IMPIPE_SIMD Ints from_bytes(const std::uint64_t (&eights)[lanes / 8]) {
  return _mm512_cvtepu8_epi32(
      _mm_set_epi64x(static_cast<std::int64_t>(eights[1]), static_cast<std::int64_t>(eights[0])));
}
// 0 where the element's bit is not set.
IMPIPE_SIMD Floats where_set(std::uint64_t bits, Floats v) {
  return _mm512_maskz_mov_ps(static_cast<__mmask16>(bits), v);
}
// The first n elements.
IMPIPE_SIMD void store_first(float* p, Floats v, std::int64_t n) {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1 << n) - 1), v);
}
// Of the elements of a and then b as many from `first` on.
template <int first>
IMPIPE_SIMD Floats from_element(Floats a, Floats b) {
  if constexpr (first == 0) return a;
  if constexpr (first == lanes) return b;
  return _mm512_castsi512_ps(
      _mm512_alignr_epi32(_mm512_castps_si512(b), _mm512_castps_si512(a), first % lanes));
}
// Splits the two vectors at p into their even (a) and odd (b) elements.
IMPIPE_SIMD void split_pairs(const float* p, Floats& a, Floats& b) {
  const __m512 low = _mm512_loadu_ps(p), high = _mm512_loadu_ps(p + 16);
  const Ints even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  a = _mm512_permutex2var_ps(low, even, high);
  b = _mm512_permutex2var_ps(low, _mm512_add_epi32(even, _mm512_set1_epi32(1)), high);
}
// Bytes byte, byte + 4, byte + 8 and byte + 12 of each 16 at p, as numbers; byte: 0 to 3.
IMPIPE_SIMD Floats every_fourth_byte(const std::uint8_t* p, int byte) {
  const __m512i places = _mm512_add_epi32(_mm512_set4_epi32(12, 8, 4, 0),
                                          _mm512_set1_epi32(static_cast<int>(0x80808000u) + byte));
  return _mm512_cvtepi32_ps(_mm512_shuffle_epi8(_mm512_loadu_si512(p), places));
}

IMPIPE_SIMD Doubles load_doubles(const float* p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
IMPIPE_SIMD Doubles load_doubles(const std::uint8_t* p) {
  const __m128i codes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  return _mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(codes));
}
IMPIPE_SIMD Doubles load_doubles(const std::uint16_t* p) {
  const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return _mm512_cvtepi32_pd(_mm256_cvtepu16_epi32(codes));
}
IMPIPE_SIMD Doubles rounded_down(Doubles v) {
  return _mm512_roundscale_pd(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
// 0, 1, 2 and so on.
IMPIPE_SIMD Doubles counted() { return _mm512_setr_pd(0, 1, 2, 3, 4, 5, 6, 7); }
// The numbers of a, then those of b; whole ones: towards 0.
IMPIPE_SIMD Floats joined(Doubles a, Doubles b) {
  const __m512 first = _mm512_castps256_ps512(_mm512_cvtpd_ps(a));
  return _mm512_castpd_ps(
      _mm512_insertf64x4(_mm512_castps_pd(first), _mm256_castps_pd(_mm512_cvtpd_ps(b)), 1));
}
IMPIPE_SIMD Ints joined_whole(Doubles a, Doubles b) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvttpd_epi32(a)), _mm512_cvttpd_epi32(b),
                            1);
}

// Of n bytes the sum.
IMPIPE_SIMD std::int32_t sum_of_bytes(const std::uint8_t* p, int n) {
  __m512i sums = _mm512_setzero_si512();
  for (int i = 0; i < n; i += 64) {
    const __mmask64 there = n - i < 64 ? (std::uint64_t{1} << (n - i)) - 1 : ~std::uint64_t{0};
    const __m512i bytes = _mm512_maskz_loadu_epi8(there, p + i);
    sums = _mm512_add_epi64(sums, _mm512_sad_epu8(bytes, _mm512_setzero_si512()));
  }
  return static_cast<std::int32_t>(_mm512_reduce_add_epi64(sums));
}

// Of the pixels of a and then b as many from pixel `pixels` on, at most 16 bytes further.
template <int pixels, class T>
IMPIPE_SIMD Pixels<T> moved(Pixels<T> a, Pixels<T> b) {
  constexpr int bytes = pixels * static_cast<int>(sizeof(T));
  static_assert(bytes <= 16);
  if constexpr (bytes % 4 == 0) return {_mm512_alignr_epi32(b.v, a.v, bytes / 4)};
  return {_mm512_alignr_epi8(_mm512_alignr_epi64(b.v, a.v, 2), a.v, bytes)};
}

// The last `pixels` of a and then those of b that have room behind them; at most 16 bytes.
template <int pixels, class T>
IMPIPE_SIMD Pixels<T> before(Pixels<T> a, Pixels<T> b) {
  constexpr int bytes = pixels * static_cast<int>(sizeof(T));
  static_assert(bytes <= 16);
  if constexpr (bytes % 4 == 0) return {_mm512_alignr_epi32(b.v, a.v, 16 - bytes / 4)};
  return {_mm512_alignr_epi8(b.v, _mm512_alignr_epi64(b.v, a.v, 6), 16 - bytes)};
}

IMPIPE_SIMD std::int64_t sum_of(Pixels<std::uint64_t> a) { return _mm512_reduce_add_epi64(a.v); }
// Bytes as 16 bits: those of the first half, and those of the second.
IMPIPE_SIMD Pixels<std::uint16_t> first_half(Pixels<std::uint8_t> a) {
  return {_mm512_cvtepu8_epi16(_mm512_castsi512_si256(a.v))};
}
IMPIPE_SIMD Pixels<std::uint16_t> second_half(Pixels<std::uint8_t> a) {
  return {_mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(a.v, 1))};
}
// The same of signed bytes.
IMPIPE_SIMD Pixels<std::uint16_t> first_half_signed(Pixels<std::uint8_t> a) {
  return {_mm512_cvtepi8_epi16(_mm512_castsi512_si256(a.v))};
}
IMPIPE_SIMD Pixels<std::uint16_t> second_half_signed(Pixels<std::uint8_t> a) {
  return {_mm512_cvtepi8_epi16(_mm512_extracti64x4_epi64(a.v, 1))};
}
// Bytes as numbers of 16 bits, in order.
IMPIPE_SIMD Pixels<std::uint16_t> load_whole(const std::uint8_t* p) {
  return {_mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
// The codes of a, then those of b, as bytes.
IMPIPE_SIMD void store_codes(std::uint8_t* p, Pixels<std::uint16_t> a, Pixels<std::uint16_t> b) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi16_epi8(a.v));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 32), _mm512_cvtepi16_epi8(b.v));
}
// A bit for each byte: whether it has one of the bits; its lowest bit; and bytes 1 of such bits.
IMPIPE_SIMD std::uint64_t where_any(Pixels<std::uint8_t> a, Pixels<std::uint8_t> bits) {
  return _mm512_test_epi8_mask(a.v, bits.v);
}
IMPIPE_SIMD std::uint64_t lowest_bits(Pixels<std::uint8_t> a) {
  return _mm512_test_epi8_mask(a.v, _mm512_set1_epi8(1));
}
IMPIPE_SIMD Pixels<std::uint8_t> ones_where(std::uint64_t bits) {
  return {_mm512_maskz_set1_epi8(bits, 1)};
}
// A bit for each byte: whether a's and b's are at most their limits.
IMPIPE_SIMD std::uint64_t where_both_at_most(Pixels<std::uint8_t> a, Pixels<std::uint8_t> max_a,
                                             Pixels<std::uint8_t> b, Pixels<std::uint8_t> max_b) {
  return _mm512_mask_cmple_epu8_mask(_mm512_cmple_epu8_mask(a.v, max_a.v), b.v, max_b.v);
}
// sum + 1, or sum - 1, where a is at least b; numbers up to 127.
IMPIPE_SIMD Pixels<std::uint8_t> one_more(Pixels<std::uint8_t> sum, Pixels<std::uint8_t> a,
                                          Pixels<std::uint8_t> b) {
  const __mmask64 where = _mm512_cmpge_epu8_mask(a.v, b.v);
  return {_mm512_mask_add_epi8(sum.v, where, sum.v, _mm512_set1_epi8(1))};
}
IMPIPE_SIMD Pixels<std::uint8_t> one_less(Pixels<std::uint8_t> sum, Pixels<std::uint8_t> a,
                                          Pixels<std::uint8_t> b) {
  const __mmask64 where = _mm512_cmpge_epu8_mask(a.v, b.v);
  return {_mm512_mask_sub_epi8(sum.v, where, sum.v, _mm512_set1_epi8(1))};
}
// How many numbers of all vectors are at most `limit`; numbers up to 32767.
template <int vectors>
IMPIPE_SIMD int count_at_most(const Pixels<std::uint16_t> (&a)[vectors],
                              Pixels<std::uint16_t> limit) {
  int sum = 0;
  for (int k = 0; k < vectors; k += 2) {
    const __mmask64 low = _mm512_cmple_epu16_mask(a[k].v, limit.v);
    const __mmask64 high = _mm512_cmple_epu16_mask(a[k + 1].v, limit.v);
    sum += static_cast<int>(_mm_popcnt_u64(_cvtmask64_u64(_mm512_kunpackd(high, low))));
  }
  return sum;
}
// The first or the last pixel everywhere.
template <class T>
IMPIPE_SIMD Pixels<T> first_everywhere(Pixels<T> a) {
  const __m128i first = _mm512_castsi512_si128(a.v);
  if constexpr (sizeof(T) == 4) return {_mm512_broadcastd_epi32(first)};
  return {sizeof(T) == 1 ? _mm512_broadcastb_epi8(first) : _mm512_broadcastw_epi16(first)};
}
template <class T>
IMPIPE_SIMD Pixels<T> last_everywhere(Pixels<T> a) {
  const __m512i last = _mm512_permutexvar_epi64(_mm512_set1_epi64(7), a.v);  // eight bytes
  if constexpr (sizeof(T) == 4) {
    return {_mm512_shuffle_epi32(last, static_cast<_MM_PERM_ENUM>(0x55))};
  }
  return {
      _mm512_shuffle_epi8(last, sizeof(T) == 1 ? _mm512_set1_epi8(7) : _mm512_set1_epi16(0x0706))};
}

IMPIPE_SIMD EightFloats multiply_add(EightFloats a, EightFloats b, EightFloats c) {
  return _mm256_fmadd_ps(a, b, c);
}

#undef IMPIPE_SIMD

}  // namespace impipe::cpu::simd::v4
#endif
