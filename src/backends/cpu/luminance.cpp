// The body rgb2gray without its divisions: an approximation whose error has a bound, and the body
// itself for the few pixels that lie that close to a half. Single, whose white is 1, has nothing to
// divide by: there the same operations in the same order.
#include "backends/cpu/luminance.hpp"

#include <string_view>

#include "backends/cpu/intrinsics.hpp"
#include "backends/cpu/rows.hpp"

namespace impipe::cpu {

#if IMPIPE_HAS_INTRINSICS
namespace {

constexpr double red = 0.298936, green = 0.587043, blue = 0.114021;

struct Exact {
  const PointBody& body;
  const double* args;
  CpuLevel level;
};

// The body itself, in double.
template <class T>
void run_exactly(T* out, const T* in, std::int64_t n, const Exact& exact) {
  constexpr std::int64_t most = 16;
  double channels[3][most], result[most];
  const double* rows[] = {channels[0], channels[1], channels[2]};
  for (std::int64_t at = 0; at < n; at += most) {
    const std::int64_t count = std::min(most, n - at);
    for (std::int64_t i = 0; i < count; ++i) {
      for (int c = 0; c < 3; ++c) channels[c][i] = static_cast<double>(in[(at + i) * 3 + c]);
    }
    exact.body.rows_double[static_cast<int>(exact.level)](result, rows, count, exact.args);
    store_row(reinterpret_cast<std::byte*>(out + at), result,
              sizeof(T) == 1 ? PixelClass::uint8 : PixelClass::uint16, count, exact.level);
  }
}

// Twelve bytes in each quarter of a register.
IMPIPE_TARGET_v4 inline __m512i in_quarters(__m512i pixels) {
  return _mm512_permutexvar_epi32(
      _mm512_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11), pixels);
}

// Four pixels of bytes in a quarter: channel c as 32-bit numbers. 0x80: a byte of zero.
template <int c>
IMPIPE_TARGET_v4 inline __attribute__((always_inline)) __m512 channel_of_bytes(__m512i quarters) {
  constexpr int first = static_cast<int>(0x80808000u) + c;
  const __m512i order = _mm512_set4_epi32(first + 9, first + 6, first + 3, first);
  return _mm512_cvtepi32_ps(_mm512_shuffle_epi8(quarters, order));
}

// Two pixels of 16 bits in a quarter: channel c as 64-bit numbers.
template <int c>
IMPIPE_TARGET_v4 inline __attribute__((always_inline)) __m512d channel_of_words(__m512i quarters) {
  constexpr int zero = static_cast<int>(0x80808080u);
  constexpr int first = static_cast<int>(0x80800100u) + 0x0202 * c;
  const __m512i order = _mm512_set4_epi32(zero, first + 0x0606, zero, first);
  return _mm512_cvtepi64_pd(_mm512_shuffle_epi8(quarters, order));
}

IMPIPE_TARGET_v4 void luminance_v4(std::uint8_t* out, const std::uint8_t* in, std::int64_t n,
                                   const Exact& exact) {
  // Eight roundings of numbers up to 255, of the weights and of the sums with a half: less than
  // 256 * 8 / 2^25. The body's own error is below 1e-12.
  const __m512 near = _mm512_set1_ps(0x1p-13f);
  const __m512 half = _mm512_set1_ps(0.5f);
  std::int64_t i = 0;
  constexpr std::int64_t read = 22;  // pixels in 64 bytes, rounded up
  for (; i + read <= n; i += 16) {
    const __m512i quarters = in_quarters(_mm512_loadu_si512(in + 3 * i));
    __m512 sum = _mm512_fmadd_ps(channel_of_bytes<0>(quarters), _mm512_set1_ps(red), half);
    sum = _mm512_fmadd_ps(channel_of_bytes<1>(quarters), _mm512_set1_ps(green), sum);
    sum = _mm512_fmadd_ps(channel_of_bytes<2>(quarters), _mm512_set1_ps(blue), sum);
    const __m512i code = _mm512_cvttps_epi32(sum);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm512_cvtepi32_epi8(code));
    // How far the nearest whole number is, on which the code changes.
    const __m512 off = _mm512_abs_ps(_mm512_reduce_ps(sum, _MM_FROUND_TO_NEAREST_INT));
    if (_mm512_cmp_ps_mask(off, near, _CMP_LT_OQ) != 0) {
      run_exactly(out + i, in + 3 * i, 16, exact);
    }
  }
  run_exactly(out + i, in + 3 * i, n - i, exact);
}

IMPIPE_TARGET_v4 void luminance_v4(std::uint16_t* out, const std::uint16_t* in, std::int64_t n,
                                   const Exact& exact) {
  // Far more than the error of either sum, 65536 * 10 / 2^53.
  const __m512d near = _mm512_set1_pd(1e-9);
  const __m512d half = _mm512_set1_pd(0.5);
  std::int64_t i = 0;
  constexpr std::int64_t read = 11;  // pixels in 64 bytes, rounded up
  for (; i + read <= n; i += 8) {
    const __m512i quarters = in_quarters(_mm512_loadu_si512(in + 3 * i));
    __m512d sum = _mm512_fmadd_pd(channel_of_words<0>(quarters), _mm512_set1_pd(red), half);
    sum = _mm512_fmadd_pd(channel_of_words<1>(quarters), _mm512_set1_pd(green), sum);
    sum = _mm512_fmadd_pd(channel_of_words<2>(quarters), _mm512_set1_pd(blue), sum);
    const __m256i code = _mm512_cvttpd_epi32(sum);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm256_cvtepi32_epi16(code));
    const __m512d off = _mm512_abs_pd(_mm512_reduce_pd(sum, _MM_FROUND_TO_NEAREST_INT));
    if (_mm512_cmp_pd_mask(off, near, _CMP_LT_OQ) != 0) {
      run_exactly(out + i, in + 3 * i, 8, exact);
    }
  }
  run_exactly(out + i, in + 3 * i, n - i, exact);
}

// Elements c, c + 3, c + 6 ... of 48.
template <int c>
IMPIPE_TARGET_v4 inline __attribute__((always_inline)) __m512 every_third(__m512 a, __m512 b,
                                                                          __m512 d) {
  const __m512i order = _mm512_add_epi32(
      _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45),
      _mm512_set1_epi32(c));
  constexpr int in_last = 0xffff << ((32 - c + 2) / 3) & 0xffff;  // those from 32 on
  return _mm512_mask_permutexvar_ps(_mm512_permutex2var_ps(a, order, b), in_last, order, d);
}

IMPIPE_TARGET_v4 void luminance_v4(float* out, const float* in, std::int64_t n) {
  const __m512 r = _mm512_set1_ps(static_cast<float>(red));
  const __m512 g = _mm512_set1_ps(static_cast<float>(green));
  const __m512 b = _mm512_set1_ps(static_cast<float>(blue));
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const float* from = in + 3 * i;
    const __m512 first = _mm512_loadu_ps(from), second = _mm512_loadu_ps(from + 16);
    const __m512 third = _mm512_loadu_ps(from + 32);
    const __m512 two = _mm512_add_ps(_mm512_mul_ps(r, every_third<0>(first, second, third)),
                                     _mm512_mul_ps(g, every_third<1>(first, second, third)));
    _mm512_storeu_ps(out + i,
                     _mm512_add_ps(two, _mm512_mul_ps(b, every_third<2>(first, second, third))));
  }
  for (; i < n; ++i) {
    out[i] = static_cast<float>(red) * in[3 * i] + static_cast<float>(green) * in[3 * i + 1] +
             static_cast<float>(blue) * in[3 * i + 2];
  }
}

// --- the same in AVX2: a pixel's channels never leave their half of a register

// Twelve bytes in each half.
IMPIPE_TARGET_v3 inline __m256i in_halves(const void* in) {
  const auto* bytes = static_cast<const std::uint8_t*>(in);
  return _mm256_set_m128i(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 12)),
                          _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
}

// Four pixels of bytes in a half: channel c as 32-bit numbers. 0x80: a byte of zero.
template <int c>
IMPIPE_TARGET_v3 inline __attribute__((always_inline)) __m256 channel_of_bytes(__m256i halves) {
  constexpr int first = static_cast<int>(0x80808000u) + c;
  const __m256i order = _mm256_setr_epi32(first, first + 3, first + 6, first + 9, first, first + 3,
                                          first + 6, first + 9);
  return _mm256_cvtepi32_ps(_mm256_shuffle_epi8(halves, order));
}

// Two pixels of 16 bits in a half: channel c of the four.
template <int c>
IMPIPE_TARGET_v3 inline __attribute__((always_inline)) __m256d channel_of_words(__m256i halves) {
  constexpr int zero = static_cast<int>(0x80808080u);
  constexpr int first = static_cast<int>(0x80800100u) + 0x0202 * c;
  const __m256i order =
      _mm256_setr_epi32(first, first + 0x0606, zero, zero, first, first + 0x0606, zero, zero);
  const __m256i numbers = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(halves, order), 8);
  return _mm256_cvtepi32_pd(_mm256_castsi256_si128(numbers));
}

IMPIPE_TARGET_v3 void luminance_v3(std::uint8_t* out, const std::uint8_t* in, std::int64_t n,
                                   const Exact& exact) {
  const __m256 near = _mm256_set1_ps(0x1p-13f);  // as above
  const __m256 half = _mm256_set1_ps(0.5f), sign = _mm256_set1_ps(-0.0f);
  std::int64_t i = 0;
  constexpr std::int64_t read = 10;  // pixels in 28 bytes, rounded up
  for (; i + read <= n; i += 8) {
    const __m256i halves = in_halves(in + 3 * i);
    __m256 sum = _mm256_fmadd_ps(channel_of_bytes<0>(halves), _mm256_set1_ps(red), half);
    sum = _mm256_fmadd_ps(channel_of_bytes<1>(halves), _mm256_set1_ps(green), sum);
    sum = _mm256_fmadd_ps(channel_of_bytes<2>(halves), _mm256_set1_ps(blue), sum);
    const __m256i code = _mm256_cvttps_epi32(sum);
    const __m128i words =
        _mm_packus_epi32(_mm256_castsi256_si128(code), _mm256_extracti128_si256(code, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + i), _mm_packus_epi16(words, words));
    const __m256 whole = _mm256_round_ps(sum, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m256 off = _mm256_andnot_ps(sign, _mm256_sub_ps(sum, whole));
    if (_mm256_movemask_ps(_mm256_cmp_ps(off, near, _CMP_LT_OQ)) != 0) {
      run_exactly(out + i, in + 3 * i, 8, exact);
    }
  }
  run_exactly(out + i, in + 3 * i, n - i, exact);
}

IMPIPE_TARGET_v3 void luminance_v3(std::uint16_t* out, const std::uint16_t* in, std::int64_t n,
                                   const Exact& exact) {
  const __m256d near = _mm256_set1_pd(1e-9);  // as above
  const __m256d half = _mm256_set1_pd(0.5), sign = _mm256_set1_pd(-0.0);
  std::int64_t i = 0;
  constexpr std::int64_t read = 5;  // pixels in 28 bytes, rounded up
  for (; i + read <= n; i += 4) {
    const __m256i halves = in_halves(in + 3 * i);
    __m256d sum = _mm256_fmadd_pd(channel_of_words<0>(halves), _mm256_set1_pd(red), half);
    sum = _mm256_fmadd_pd(channel_of_words<1>(halves), _mm256_set1_pd(green), sum);
    sum = _mm256_fmadd_pd(channel_of_words<2>(halves), _mm256_set1_pd(blue), sum);
    const __m128i code = _mm256_cvttpd_epi32(sum);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + i), _mm_packus_epi32(code, code));
    const __m256d whole = _mm256_round_pd(sum, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m256d off = _mm256_andnot_pd(sign, _mm256_sub_pd(sum, whole));
    if (_mm256_movemask_pd(_mm256_cmp_pd(off, near, _CMP_LT_OQ)) != 0) {
      run_exactly(out + i, in + 3 * i, 4, exact);
    }
  }
  run_exactly(out + i, in + 3 * i, n - i, exact);
}

// Elements c, c + 3, c + 6 ... of 24: no two of them lie in one place of their registers.
template <int c>
IMPIPE_TARGET_v3 inline __attribute__((always_inline)) __m256 every_third(__m256 a, __m256 b,
                                                                          __m256 d) {
  constexpr int from_b = c == 0 ? 0b10010010 : c == 1 ? 0b00100100 : 0b01001001;
  constexpr int from_d = c == 0 ? 0b00100100 : c == 1 ? 0b01001001 : 0b10010010;
  const __m256 together = _mm256_blend_ps(_mm256_blend_ps(a, b, from_b), d, from_d);
  return _mm256_permutevar8x32_ps(
      together, _mm256_setr_epi32(c, c + 3, c + 6, (c + 9) % 8, (c + 12) % 8, (c + 15) % 8,
                                  (c + 18) % 8, (c + 21) % 8));
}

IMPIPE_TARGET_v3 void luminance_v3(float* out, const float* in, std::int64_t n) {
  const __m256 r = _mm256_set1_ps(static_cast<float>(red));
  const __m256 g = _mm256_set1_ps(static_cast<float>(green));
  const __m256 b = _mm256_set1_ps(static_cast<float>(blue));
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const float* from = in + 3 * i;
    const __m256 first = _mm256_loadu_ps(from), second = _mm256_loadu_ps(from + 8);
    const __m256 third = _mm256_loadu_ps(from + 16);
    const __m256 two = _mm256_add_ps(_mm256_mul_ps(r, every_third<0>(first, second, third)),
                                     _mm256_mul_ps(g, every_third<1>(first, second, third)));
    _mm256_storeu_ps(out + i,
                     _mm256_add_ps(two, _mm256_mul_ps(b, every_third<2>(first, second, third))));
  }
  for (; i < n; ++i) {
    out[i] = static_cast<float>(red) * in[3 * i] + static_cast<float>(green) * in[3 * i + 1] +
             static_cast<float>(blue) * in[3 * i + 2];
  }
}

template <class T, class... More>
void luminance(std::byte* out, const std::byte* in, std::int64_t n, CpuLevel level,
               const More&... more) {
  (level == CpuLevel::v4
       ? static_cast<void (*)(T*, const T*, std::int64_t, const More&...)>(luminance_v4)
       : static_cast<void (*)(T*, const T*, std::int64_t, const More&...)>(luminance_v3))(
      reinterpret_cast<T*>(out), reinterpret_cast<const T*>(in), n, more...);
}

}  // namespace

bool has_luminance(const PointBody& body, PixelClass from, PixelClass to,
                   const std::vector<double>& args, CpuLevel level) {
  return level != CpuLevel::baseline && std::string_view(body.name) == "rgb2gray" && from == to &&
         from != PixelClass::logical && args.at(0) == class_max(from);
}

void run_luminance(std::byte* out, const std::byte* in, PixelClass cls, std::int64_t n,
                   const PointBody& body, const std::vector<double>& args, CpuLevel level) {
  const Exact exact{body, args.data(), level};
  if (cls == PixelClass::single) {
    luminance<float>(out, in, n, level);
  } else if (cls == PixelClass::uint16) {
    luminance<std::uint16_t>(out, in, n, level, exact);
  } else {
    luminance<std::uint8_t>(out, in, n, level, exact);
  }
}
#else
bool has_luminance(const PointBody&, PixelClass, PixelClass, const std::vector<double>&, CpuLevel) {
  return false;
}
void run_luminance(std::byte*, const std::byte*, PixelClass, std::int64_t, const PointBody&,
                   const std::vector<double>&, CpuLevel) {}
#endif

}  // namespace impipe::cpu
