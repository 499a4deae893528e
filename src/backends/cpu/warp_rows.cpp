// Bilinear affine maps in vectors, where all pixels of a vector lie inside the image.
#include "backends/cpu/warp_rows.hpp"

#include <limits>

#include "backends/cpu/intrinsics.hpp"

namespace impipe::cpu {
namespace {

#if IMPIPE_HAS_INTRINSICS
namespace v3 {
#define LEVEL_TARGET IMPIPE_TARGET_v3
#define HALF 4
using Vec = __m256;
using Ints = __m256i;
using Reals = __m256d;
#define GATHER(data, offsets) _mm256_i32gather_epi32(reinterpret_cast<const int*>(data), offsets, 1)
#define SET_INTS(v) _mm256_set1_epi32(v)
#define AND(a, b) _mm256_and_si256(a, b)
#define ADD(a, b) _mm256_add_epi32(a, b)
#define MULTIPLY(a, b) _mm256_mullo_epi32(a, b)
#define SHIFT_RIGHT(a, bits) _mm256_srli_epi32(a, bits)
#define TO_FLOATS(v) _mm256_cvtepi32_ps(v)
#define AS_FLOATS(v) _mm256_castsi256_ps(v)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define FNMA(a, b, c) _mm256_fnmadd_ps(a, b, c)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define SET_REALS(v) _mm256_set1_pd(v)
#define COUNT_REALS _mm256_setr_pd(0, 1, 2, 3)
#define ADD_REALS(a, b) _mm256_add_pd(a, b)
#define SUB_REALS(a, b) _mm256_sub_pd(a, b)
#define FMA_REALS(a, b, c) _mm256_fmadd_pd(a, b, c)
#define FLOOR(v) _mm256_floor_pd(v)
#define ALL_IN(v, low, high)                                           \
  (_mm256_movemask_pd(_mm256_and_pd(_mm256_cmp_pd(v, low, _CMP_GE_OQ), \
                                    _mm256_cmp_pd(v, high, _CMP_LT_OQ))) == 15)
#define JOIN_FLOATS(a, b) _mm256_set_m128(_mm256_cvtpd_ps(b), _mm256_cvtpd_ps(a))
#define JOIN_INTS(a, b) _mm256_set_m128i(_mm256_cvttpd_epi32(b), _mm256_cvttpd_epi32(a))
#include "backends/cpu/warp_rows.inc"
}  // namespace v3

namespace v4 {
#define LEVEL_TARGET IMPIPE_TARGET_v4
#define HALF 8
using Vec = __m512;
using Ints = __m512i;
using Reals = __m512d;
#define GATHER(data, offsets) _mm512_i32gather_epi32(offsets, data, 1)
#define SET_INTS(v) _mm512_set1_epi32(v)
#define AND(a, b) _mm512_and_si512(a, b)
#define ADD(a, b) _mm512_add_epi32(a, b)
#define MULTIPLY(a, b) _mm512_mullo_epi32(a, b)
#define SHIFT_RIGHT(a, bits) _mm512_srli_epi32(a, bits)
#define TO_FLOATS(v) _mm512_cvtepi32_ps(v)
#define AS_FLOATS(v) _mm512_castsi512_ps(v)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define FNMA(a, b, c) _mm512_fnmadd_ps(a, b, c)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define SET_REALS(v) _mm512_set1_pd(v)
#define COUNT_REALS _mm512_setr_pd(0, 1, 2, 3, 4, 5, 6, 7)
#define ADD_REALS(a, b) _mm512_add_pd(a, b)
#define SUB_REALS(a, b) _mm512_sub_pd(a, b)
#define FMA_REALS(a, b, c) _mm512_fmadd_pd(a, b, c)
#define FLOOR(v) _mm512_roundscale_pd(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define ALL_IN(v, low, high) \
  ((_mm512_cmp_pd_mask(v, low, _CMP_GE_OQ) & _mm512_cmp_pd_mask(v, high, _CMP_LT_OQ)) == 255)
#define JOIN_FLOATS(a, b)                                                              \
  _mm512_castpd_ps(                                                                    \
      _mm512_insertf64x4(_mm512_castps_pd(_mm512_castps256_ps512(_mm512_cvtpd_ps(a))), \
                         _mm256_castps_pd(_mm512_cvtpd_ps(b)), 1))
#define JOIN_INTS(a, b) \
  _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvttpd_epi32(a)), _mm512_cvttpd_epi32(b), 1)
#include "backends/cpu/warp_rows.inc"
}  // namespace v4

using WarpVectors = void (*)(const AffineRow& row, WarpRow plain, float* out);
WarpVectors vectors_of(PixelClass cls, CpuLevel level) {
  const int bytes = bytes_of(cls);
  if (level == CpuLevel::v3) {
    return bytes == 1   ? v3::warp<std::uint8_t>
           : bytes == 2 ? v3::warp<std::uint16_t>
                        : v3::warp<float>;
  }
  return bytes == 1   ? v4::warp<std::uint8_t>
         : bytes == 2 ? v4::warp<std::uint16_t>
                      : v4::warp<float>;
}
#endif

}  // namespace

void warp_bilinear(const AffineRow& row, PixelClass cls, CpuLevel level, float* out) {
  const WarpRow plain = warp_row(cls, false, level);
#if IMPIPE_HAS_INTRINSICS
  if (level != CpuLevel::baseline) return vectors_of(cls, level)(row, plain, out);
#endif
  plain(row, out);
}

}  // namespace impipe::cpu
