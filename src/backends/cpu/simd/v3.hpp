// The vocabulary of vector kernels for AVX2 and FMA; see baseline.hpp. Besides, what only kernels
// for vectors use: whole numbers, doubles, places in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/simd/intrinsics.hpp"
#include "core/body.hpp"

#if IMPIPE_HAS_INTRINSICS
namespace impipe::cpu::simd::v3 {

#define IMPIPE_SIMD IMPIPE_TARGET_v3 inline __attribute__((always_inline))

using Floats = __m256;
using Ints = __m256i;
using Doubles = __m256d;
inline constexpr int lanes = 8, row_vectors = 2;

IMPIPE_SIMD Floats as_bits(Ints v) { return _mm256_castsi256_ps(v); }
IMPIPE_SIMD Ints bits_of(Floats v) { return _mm256_castps_si256(v); }

#define IMPIPE_OP(name) _mm256_##name
#define IMPIPE_WHOLE(name) _mm256_##name##_si256
#include "backends/cpu/simd/both_levels.inc"
#undef IMPIPE_OP
#undef IMPIPE_WHOLE

IMPIPE_SIMD Floats load(const std::uint8_t* p) {
  const __m128i codes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(codes));
}
IMPIPE_SIMD Floats load(const std::uint16_t* p) {
  const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(codes));
}
IMPIPE_SIMD Floats magnitude(Floats v) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v); }
IMPIPE_SIMD void keep(Floats& v) { __asm__("" : "+x"(v)); }

IMPIPE_SIMD Ints load_whole(const std::uint16_t* p) {
  return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
// The numbers of all vectors, in order, as codes; those that are codes keep their values.
IMPIPE_SIMD void store_codes(std::uint8_t* p, const Ints (&v)[4]) {
  const __m256i codes =
      _mm256_packus_epi16(_mm256_packs_epi32(v[0], v[1]), _mm256_packs_epi32(v[2], v[3]));
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_permutevar8x32_epi32(codes, order));
}
IMPIPE_SIMD void store_codes(std::uint16_t* p, const Ints (&v)[2]) {
  const __m256i codes = _mm256_packus_epi32(v[0], v[1]);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_permute4x64_epi64(codes, 0xd8));
}
// Each element with all before it; the last one everywhere.
IMPIPE_SIMD Ints running_sums(Ints v) {
  v = _mm256_add_epi32(v, _mm256_slli_si256(v, 4));
  v = _mm256_add_epi32(v, _mm256_slli_si256(v, 8));
  const __m256i lower = _mm256_permute2x128_si256(v, v, 0x08);
  return _mm256_add_epi32(v, _mm256_shuffle_epi32(lower, 0xff));
}
IMPIPE_SIMD Ints last_everywhere(Ints v) {
  return _mm256_permutevar8x32_epi32(v, _mm256_set1_epi32(7));
}
IMPIPE_SIMD Ints shifted_right_signed(Ints v, int bits) { return _mm256_srai_epi32(v, bits); }
// Whether one of a's elements is smaller than b's.
IMPIPE_SIMD bool any_smaller(Ints a, Ints b) {
  return _mm256_movemask_epi8(_mm256_cmpgt_epi32(b, a)) != 0;
}
// All elements, modulo 2^32.
IMPIPE_SIMD std::uint32_t sum_of(Ints v) {
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(sum));
}
IMPIPE_SIMD int first_of(Ints v) { return _mm_cvtsi128_si32(_mm256_castsi256_si128(v)); }
IMPIPE_SIMD Floats permuted(Floats v, const std::int32_t* places) {
  return _mm256_permutevar8x32_ps(v, load(places));
}
IMPIPE_SIMD Floats permuted(Floats a, Floats b, const std::int32_t* places) {
  // The bit that counts 8 becomes the sign.
  const __m256i from_b = _mm256_slli_epi32(load(places), 28);
  return _mm256_blendv_ps(permuted(a, places), permuted(b, places), _mm256_castsi256_ps(from_b));
}
IMPIPE_SIMD Floats permuted(Floats a, Floats b, Floats c, Floats d, const std::int32_t* places) {
  const __m256i behind = _mm256_slli_epi32(load(places), 27);
  return _mm256_blendv_ps(permuted(a, b, places), permuted(c, d, places),
                          _mm256_castsi256_ps(behind));
}
IMPIPE_SIMD Floats permuted(Floats v, Ints places) { return _mm256_permutevar8x32_ps(v, places); }
// Bytes, eight in each of the numbers.
IMPIPE_SIMD Ints from_bytes(const std::uint64_t (&eights)[lanes / 8]) {
  return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<std::int64_t>(eights[0])));
}
// 0 where the element's bit is not set.
IMPIPE_SIMD Floats where_set(std::uint64_t bits, Floats v) {
  const __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  const __m256i here = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(bits & 255)), each);
  return _mm256_and_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(here, each)), v);
}
// The first n elements.
IMPIPE_SIMD void store_first(float* p, Floats v, std::int64_t n) {
  float all[lanes];
  _mm256_storeu_ps(all, v);
  for (std::int64_t i = 0; i < n; ++i) p[i] = all[i];
}
// Of the elements of a and then b as many from `first` on.
template <int first>
IMPIPE_SIMD Floats from_element(Floats a, Floats b) {
  if constexpr (first == 0) return a;
  if constexpr (first == lanes) return b;
  const __m256i x = _mm256_castps_si256(a), y = _mm256_castps_si256(b);
  const __m256i between = _mm256_permute2x128_si256(x, y, 0x21);
  return _mm256_castsi256_ps(first < 4 ? _mm256_alignr_epi8(between, x, first % 4 * 4)
                                       : _mm256_alignr_epi8(y, between, first % 4 * 4));
}
// Of two vectors at p the elements with even numbers and those with odd ones.
IMPIPE_SIMD void split_pairs(const float* p, Floats& a, Floats& b) {
  const __m256 low = _mm256_loadu_ps(p), high = _mm256_loadu_ps(p + 8);
  // Of each half of the vectors: pairs 0 and 1 of low, then of high.
  const __m256d first = _mm256_castps_pd(_mm256_shuffle_ps(low, high, 0x88));
  const __m256d second = _mm256_castps_pd(_mm256_shuffle_ps(low, high, 0xdd));
  a = _mm256_castpd_ps(_mm256_permute4x64_pd(first, 0xd8));
  b = _mm256_castpd_ps(_mm256_permute4x64_pd(second, 0xd8));
}
// Bytes byte, byte + 4, byte + 8 and byte + 12 of each 16 at p, as numbers; byte: 0 to 3.
IMPIPE_SIMD Floats every_fourth_byte(const std::uint8_t* p, int byte) {
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  const __m256i places = _mm256_add_epi32(_mm256_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12),
                                          _mm256_set1_epi32(static_cast<int>(0x80808000u) + byte));
  return _mm256_cvtepi32_ps(_mm256_shuffle_epi8(bytes, places));
}

IMPIPE_SIMD Doubles load_doubles(const float* p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
IMPIPE_SIMD Doubles load_doubles(const std::uint8_t* p) {
  std::int32_t four = 0;
  __builtin_memcpy(&four, p, sizeof four);
  return _mm256_cvtepi32_pd(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(four)));
}
IMPIPE_SIMD Doubles load_doubles(const std::uint16_t* p) {
  const __m128i codes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  return _mm256_cvtepi32_pd(_mm_cvtepu16_epi32(codes));
}
IMPIPE_SIMD Doubles rounded_down(Doubles v) { return _mm256_floor_pd(v); }
// 0, 1, 2 and so on.
IMPIPE_SIMD Doubles counted() { return _mm256_setr_pd(0, 1, 2, 3); }
// The numbers of a, then those of b; whole ones: towards 0.
IMPIPE_SIMD Floats joined(Doubles a, Doubles b) {
  return _mm256_set_m128(_mm256_cvtpd_ps(b), _mm256_cvtpd_ps(a));
}
IMPIPE_SIMD Ints joined_whole(Doubles a, Doubles b) {
  return _mm256_set_m128i(_mm256_cvttpd_epi32(b), _mm256_cvttpd_epi32(a));
}

// Of n bytes the sum.
IMPIPE_SIMD std::int32_t sum_of_bytes(const std::uint8_t* p, int n) {
  __m128i sums = _mm_setzero_si128();
  int i = 0;
  for (; i + 16 <= n; i += 16) {
    sums = _mm_add_epi64(sums, _mm_sad_epu8(load_bytes(p + i), _mm_setzero_si128()));
  }
  std::int32_t sum = _mm_cvtsi128_si32(sums) + _mm_extract_epi32(sums, 2);
  for (; i < n; ++i) sum += p[i];
  return sum;
}

// Of the pixels of a and then b as many from pixel `pixels` on, at most 16 bytes further.
template <int pixels, class T>
IMPIPE_SIMD Pixels<T> moved(Pixels<T> a, Pixels<T> b) {
  constexpr int bytes = pixels * static_cast<int>(sizeof(T));
  static_assert(bytes <= 16);
  return {_mm256_alignr_epi8(_mm256_permute2x128_si256(a.v, b.v, 0x21), a.v, bytes)};
}

// The last `pixels` of a and then those of b that have room behind them; at most 16 bytes.
template <int pixels, class T>
IMPIPE_SIMD Pixels<T> before(Pixels<T> a, Pixels<T> b) {
  constexpr int bytes = pixels * static_cast<int>(sizeof(T));
  static_assert(bytes <= 16);
  return {_mm256_alignr_epi8(b.v, _mm256_permute2x128_si256(a.v, b.v, 0x21), 16 - bytes)};
}

IMPIPE_SIMD std::int64_t sum_of(Pixels<std::uint64_t> a) {
  const __m128i sum = _mm_add_epi64(_mm256_castsi256_si128(a.v), _mm256_extracti128_si256(a.v, 1));
  return _mm_cvtsi128_si64(sum) + _mm_extract_epi64(sum, 1);
}
// Bytes as 16 bits: those of the first half, and those of the second.
IMPIPE_SIMD Pixels<std::uint16_t> first_half(Pixels<std::uint8_t> a) {
  return {_mm256_cvtepu8_epi16(_mm256_castsi256_si128(a.v))};
}
IMPIPE_SIMD Pixels<std::uint16_t> second_half(Pixels<std::uint8_t> a) {
  return {_mm256_cvtepu8_epi16(_mm256_extracti128_si256(a.v, 1))};
}
// The same of signed bytes.
IMPIPE_SIMD Pixels<std::uint16_t> first_half_signed(Pixels<std::uint8_t> a) {
  return {_mm256_cvtepi8_epi16(_mm256_castsi256_si128(a.v))};
}
IMPIPE_SIMD Pixels<std::uint16_t> second_half_signed(Pixels<std::uint8_t> a) {
  return {_mm256_cvtepi8_epi16(_mm256_extracti128_si256(a.v, 1))};
}
// Bytes as numbers of 16 bits, in order.
IMPIPE_SIMD Pixels<std::uint16_t> load_whole(const std::uint8_t* p) {
  return {_mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}
// The codes of a, then those of b, as bytes.
IMPIPE_SIMD void store_codes(std::uint8_t* p, Pixels<std::uint16_t> a, Pixels<std::uint16_t> b) {
  store_pixels(p,
               Pixels<std::uint8_t>{_mm256_permute4x64_epi64(_mm256_packus_epi16(a.v, b.v), 0xd8)});
}
// A bit for each byte: whether it has one of the bits; its lowest bit; and bytes 1 of such bits.
IMPIPE_SIMD std::uint32_t where_any(Pixels<std::uint8_t> a, Pixels<std::uint8_t> bits) {
  const __m256i none = _mm256_cmpeq_epi8(_mm256_and_si256(a.v, bits.v), _mm256_setzero_si256());
  return ~static_cast<std::uint32_t>(_mm256_movemask_epi8(none));
}
IMPIPE_SIMD std::uint32_t lowest_bits(Pixels<std::uint8_t> a) {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_slli_epi16(a.v, 7)));
}
IMPIPE_SIMD Pixels<std::uint8_t> ones_where(std::uint64_t bits) {
  // Every byte gets the eight bits that its own is one of.
  const __m256i eights =
      _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i own = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
  const __m256i all = _mm256_set1_epi32(static_cast<int>(bits));
  const __m256i kept = _mm256_and_si256(_mm256_shuffle_epi8(all, eights), own);
  return {_mm256_and_si256(_mm256_cmpeq_epi8(kept, own), _mm256_set1_epi8(1))};
}
// A bit for each byte: whether a's and b's are at most their limits.
IMPIPE_SIMD std::uint32_t where_both_at_most(Pixels<std::uint8_t> a, Pixels<std::uint8_t> max_a,
                                             Pixels<std::uint8_t> b, Pixels<std::uint8_t> max_b) {
  const __m256i of_a = _mm256_cmpeq_epi8(_mm256_min_epu8(a.v, max_a.v), a.v);
  const __m256i of_b = _mm256_cmpeq_epi8(_mm256_min_epu8(b.v, max_b.v), b.v);
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_and_si256(of_a, of_b)));
}
// sum + 1, or sum - 1, where a is at least b; numbers up to 127.
IMPIPE_SIMD Pixels<std::uint8_t> one_more(Pixels<std::uint8_t> sum, Pixels<std::uint8_t> a,
                                          Pixels<std::uint8_t> b) {
  return {_mm256_sub_epi8(sum.v, _mm256_cmpeq_epi8(_mm256_max_epu8(a.v, b.v), a.v))};
}
IMPIPE_SIMD Pixels<std::uint8_t> one_less(Pixels<std::uint8_t> sum, Pixels<std::uint8_t> a,
                                          Pixels<std::uint8_t> b) {
  return {_mm256_add_epi8(sum.v, _mm256_cmpeq_epi8(_mm256_max_epu8(a.v, b.v), a.v))};
}
// How many numbers of all vectors are at most `limit`; numbers up to 32767.
template <int vectors>
IMPIPE_SIMD int count_at_most(const Pixels<std::uint16_t> (&a)[vectors],
                              Pixels<std::uint16_t> limit) {
  __m256i above = _mm256_setzero_si256();  // minus how many exceed it, in each of 16 places
  for (int k = 0; k < vectors; ++k) {
    above = _mm256_add_epi16(above, _mm256_cmpgt_epi16(a[k].v, limit.v));
  }
  const __m256i pairs = _mm256_madd_epi16(above, _mm256_set1_epi16(1));
  return 16 * vectors + static_cast<std::int32_t>(sum_of(pairs));
}
// The first or the last pixel everywhere.
template <class T>
IMPIPE_SIMD Pixels<T> first_everywhere(Pixels<T> a) {
  const __m128i first = _mm256_castsi256_si128(a.v);
  if constexpr (sizeof(T) == 4) return {_mm256_broadcastd_epi32(first)};
  return {sizeof(T) == 1 ? _mm256_broadcastb_epi8(first) : _mm256_broadcastw_epi16(first)};
}
template <class T>
IMPIPE_SIMD Pixels<T> last_everywhere(Pixels<T> a) {
  const __m256i last = _mm256_permute4x64_epi64(a.v, 0xff);  // eight bytes
  if constexpr (sizeof(T) == 4) return {_mm256_shuffle_epi32(last, 0x55)};
  return {
      _mm256_shuffle_epi8(last, sizeof(T) == 1 ? _mm256_set1_epi8(7) : _mm256_set1_epi16(0x0706))};
}

#undef IMPIPE_SIMD

}  // namespace impipe::cpu::simd::v3
#endif
