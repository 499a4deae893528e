// Row passes of few taps: each value is loaded once and moved along in registers, because a load
// for every tap, most of them across two cache lines, takes twice as long as the arithmetic.
#include "backends/cpu/neighbourhood/short_row.hpp"

#include "backends/cpu/simd/intrinsics.hpp"

namespace impipe::cpu {

#if IMPIPE_HAS_INTRINSICS
namespace {

constexpr std::int64_t vector = 16;
constexpr std::int64_t block = 4 * vector;

IMPIPE_TARGET_v4 inline __m512 load_v4(const std::uint8_t* in) {
  const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(codes));
}
IMPIPE_TARGET_v4 inline __m512 load_v4(const float* in) { return _mm512_loadu_ps(in); }

// Elements shift to shift + 15 of a and b one after the other.
template <int shift>
IMPIPE_TARGET_v4 inline __attribute__((always_inline)) __m512 moved(__m512 a, __m512 b) {
  if constexpr (shift == 0) return a;
  if constexpr (shift == vector) return b;
  return _mm512_castsi512_ps(
      _mm512_alignr_epi32(_mm512_castps_si512(b), _mm512_castps_si512(a), shift % vector));
}

// The taps from number `tap` on. Moving along needs its distance at compile time.
template <int tap>
IMPIPE_TARGET_v4 inline __attribute__((always_inline)) void add_taps(__m512 (&sum)[4],
                                                                     const __m512 (&in)[5],
                                                                     const float* weights,
                                                                     int taps) {
  if constexpr (tap <= vector) {
    if (tap >= taps) return;
    const __m512 w = _mm512_set1_ps(weights[tap]);
    for (int k = 0; k < 4; ++k) {
      sum[k] = _mm512_fmadd_ps(w, moved<tap>(in[k], in[k + 1]), sum[k]);
    }
    add_taps<tap + 1>(sum, in, weights, taps);
  }
}

template <class T>
IMPIPE_TARGET_v4 void short_row_v4(float* out, const T* in, const float* weights, int taps,
                                   std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += block) {
    // The last block overlaps the one before it: the same values are written twice.
    const std::int64_t at = i + block <= n ? i : n - block;
    __m512 sum[4], values[5];
    for (int k = 0; k < 5; ++k) values[k] = load_v4(in + at + k * vector);
    for (int k = 0; k < 4; ++k) sum[k] = _mm512_setzero_ps();
    add_taps<0>(sum, values, weights, taps);
    for (int k = 0; k < 4; ++k) _mm512_storeu_ps(out + at + k * vector, sum[k]);
  }
}

// The same with loads alone, of which these processors do more at once: the weights stay in
// registers, of which there are too few to move values along.
template <int taps>
IMPIPE_TARGET_v3 void short_row_v3(float* out, const float* in, const float* weights,
                                   std::int64_t n) {
  constexpr int vectors = 4;
  constexpr std::int64_t width = 8, wide = vectors * width;
  __m256 w[taps];
  for (int t = 0; t < taps; ++t) w[t] = _mm256_set1_ps(weights[t]);
  for (std::int64_t i = 0; i < n; i += wide) {
    const std::int64_t at = i + wide <= n ? i : n - wide;
    __m256 sum[vectors];
    for (int k = 0; k < vectors; ++k) sum[k] = _mm256_setzero_ps();
    for (int t = 0; t < taps; ++t) {
      const float* from = in + at + t;
      for (int k = 0; k < vectors; ++k) {
        sum[k] = _mm256_fmadd_ps(w[t], _mm256_loadu_ps(from + k * width), sum[k]);
      }
    }
    for (int k = 0; k < vectors; ++k) _mm256_storeu_ps(out + at + k * width, sum[k]);
  }
}

}  // namespace

bool has_short_row_sum(PixelClass cls, int taps, std::int64_t n, CpuLevel level) {
  if (level == CpuLevel::v3) {
    return cls == PixelClass::single && taps % 2 == 1 && taps >= 3 && taps <= 9 && n >= block;
  }
  return level == CpuLevel::v4 && cls != PixelClass::uint16 && taps - 1 <= vector && n >= block;
}

void short_row_sum(float* out, const std::byte* in, PixelClass cls, const float* weights, int taps,
                   std::int64_t n, CpuLevel level) {
  if (level == CpuLevel::v3) {
    constexpr decltype(&short_row_v3<3>) rows[] = {short_row_v3<3>, short_row_v3<5>,
                                                   short_row_v3<7>, short_row_v3<9>};
    rows[(taps - 3) / 2](out, reinterpret_cast<const float*>(in), weights, n);
  } else if (cls == PixelClass::single) {
    short_row_v4(out, reinterpret_cast<const float*>(in), weights, taps, n);
  } else {
    short_row_v4(out, reinterpret_cast<const std::uint8_t*>(in), weights, taps, n);
  }
}
#else
bool has_short_row_sum(PixelClass, int, std::int64_t, CpuLevel) { return false; }
void short_row_sum(float*, const std::byte*, PixelClass, const float*, int, std::int64_t,
                   CpuLevel) {}
#endif

}  // namespace impipe::cpu
