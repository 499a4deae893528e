// Rows of pixels as rows of numbers, and back: plain loops that the compiler vectorises.
#include "backends/cpu/tile/rows.hpp"

#include <algorithm>
#include <cstring>

#include "backends/cpu/simd/intrinsics.hpp"
#include "backends/cpu/simd/level.hpp"

namespace impipe::cpu {
namespace {

template <class T, class real>
IMPIPE_INLINE void load_body(const void* in, void* out, std::int64_t n) {
  const T* __restrict a = static_cast<const T*>(in);
  real* __restrict b = static_cast<real*>(out);
  for (std::int64_t i = 0; i < n; ++i) b[i] = static_cast<real>(a[i]);
}

// The largest number below a half. Adding it and dropping the fraction rounds half away from zero
// for every number from 0 to 65535: 0.5 itself would take the number just below a half to 1.
constexpr float below_half(float) { return 0x1.fffffep-2f; }
constexpr double below_half(double) { return 0x1.fffffffffffffp-2; }

template <class real, class T>
IMPIPE_INLINE T code_of(real x) {
  constexpr real largest = sizeof(T) == 1 ? real(255) : real(65535);
  const real positive = x > real(0) ? x : real(0);
  const real bounded = positive < largest ? positive : largest;
  return static_cast<T>(static_cast<std::int32_t>(bounded + below_half(real())));
}

template <class real, class T>
IMPIPE_INLINE void store_code_body(const void* in, void* out, std::int64_t n) {
  const real* __restrict a = static_cast<const real*>(in);
  T* __restrict b = static_cast<T*>(out);
  for (std::int64_t i = 0; i < n; ++i) b[i] = code_of<real, T>(a[i]);
}

template <class real>
IMPIPE_INLINE void store_logical_body(const void* in, void* out, std::int64_t n) {
  const real* __restrict a = static_cast<const real*>(in);
  std::uint8_t* __restrict b = static_cast<std::uint8_t*>(out);
  for (std::int64_t i = 0; i < n; ++i) b[i] = a[i] != real(0) ? 1 : 0;
}

IMPIPE_CPU_KERNEL(load, (const void* in, void* out, std::int64_t n), (in, out, n))
IMPIPE_CPU_KERNEL(store_code, (const void* in, void* out, std::int64_t n), (in, out, n))
IMPIPE_CPU_KERNEL(store_logical, (const void* in, void* out, std::int64_t n), (in, out, n))
#if IMPIPE_HAS_INTRINSICS
// What the compiler makes of the loops above for these is three times as slow. Numbers beyond 2^31
// become 0x80000000, which saturates like every large one.
IMPIPE_TARGET_v4 void store_codes_v4(std::uint8_t* out, const float* in, std::int64_t n) {
  const __m512 zero = _mm512_setzero_ps();
  const __m512 half = _mm512_set1_ps(below_half(0.0f));
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m512 v = _mm512_max_ps(_mm512_loadu_ps(in + i), zero);
    const __m512i code = _mm512_cvttps_epi32(_mm512_add_ps(v, half));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm512_cvtusepi32_epi8(code));
  }
  for (; i < n; ++i) out[i] = code_of<float, std::uint8_t>(in[i]);
}

IMPIPE_TARGET_v4 void store_codes_v4(std::uint16_t* out, const float* in, std::int64_t n) {
  const __m512 zero = _mm512_setzero_ps();
  const __m512 half = _mm512_set1_ps(below_half(0.0f));
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m512 v = _mm512_max_ps(_mm512_loadu_ps(in + i), zero);
    const __m512i code = _mm512_cvttps_epi32(_mm512_add_ps(v, half));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm512_cvtusepi32_epi16(code));
  }
  for (; i < n; ++i) out[i] = code_of<float, std::uint16_t>(in[i]);
}

IMPIPE_TARGET_v4 inline __m256i codes_v4(const double* in, __m512d largest) {
  const __m512d v = _mm512_min_pd(_mm512_max_pd(_mm512_loadu_pd(in), _mm512_setzero_pd()), largest);
  return _mm512_cvttpd_epi32(_mm512_add_pd(v, _mm512_set1_pd(below_half(0.0))));
}

IMPIPE_TARGET_v4 void store_codes_v4(std::uint8_t* out, const double* in, std::int64_t n) {
  const __m512d largest = _mm512_set1_pd(255.0);
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i code = _mm256_cvtepi32_epi8(codes_v4(in + i, largest));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + i), code);
  }
  for (; i < n; ++i) out[i] = code_of<double, std::uint8_t>(in[i]);
}

IMPIPE_TARGET_v4 void store_codes_v4(std::uint16_t* out, const double* in, std::int64_t n) {
  const __m512d largest = _mm512_set1_pd(65535.0);
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i code = _mm256_cvtepi32_epi16(codes_v4(in + i, largest));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), code);
  }
  for (; i < n; ++i) out[i] = code_of<double, std::uint16_t>(in[i]);
}

IMPIPE_TARGET_v4 void load_bytes_v4(float* out, const std::uint8_t* in, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    _mm512_storeu_ps(out + i, _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(codes)));
  }
  for (; i < n; ++i) out[i] = in[i];
}
IMPIPE_TARGET_v3 void load_bytes_v3(float* out, const std::uint8_t* in, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i codes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(in + i));
    _mm256_storeu_ps(out + i, _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(codes)));
  }
  for (; i < n; ++i) out[i] = in[i];
}

// Codes of either width as doubles; the compiler's own loops take four times as long.
IMPIPE_TARGET_v4 inline __m256i eight_codes(const std::uint8_t* in) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(in)));
}
IMPIPE_TARGET_v4 inline __m256i eight_codes(const std::uint16_t* in) {
  return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
}
template <class T>
IMPIPE_TARGET_v4 void load_codes_v4(double* out, const T* in, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) _mm512_storeu_pd(out + i, _mm512_cvtepi32_pd(eight_codes(in + i)));
  for (; i < n; ++i) out[i] = in[i];
}
template <class T>
IMPIPE_TARGET_v3 void load_codes_v3(double* out, const T* in, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    std::int64_t four = 0;
    __builtin_memcpy(&four, in + i, 4 * sizeof(T));
    const __m128i codes = _mm_cvtsi64_si128(four);
    const __m128i wide = sizeof(T) == 1 ? _mm_cvtepu8_epi32(codes) : _mm_cvtepu16_epi32(codes);
    _mm256_storeu_pd(out + i, _mm256_cvtepi32_pd(wide));
  }
  for (; i < n; ++i) out[i] = in[i];
}

IMPIPE_TARGET_v3 inline __m256i codes_v3(const float* in, __m256 largest) {
  const __m256 v = _mm256_min_ps(_mm256_max_ps(_mm256_loadu_ps(in), _mm256_setzero_ps()), largest);
  return _mm256_cvttps_epi32(_mm256_add_ps(v, _mm256_set1_ps(below_half(0.0f))));
}
IMPIPE_TARGET_v3 inline __m256i codes_v3(const double* in, __m256d largest) {
  const __m256d half = _mm256_set1_pd(below_half(0.0)), zero = _mm256_setzero_pd();
  const __m256d a = _mm256_min_pd(_mm256_max_pd(_mm256_loadu_pd(in), zero), largest);
  const __m256d b = _mm256_min_pd(_mm256_max_pd(_mm256_loadu_pd(in + 4), zero), largest);
  return _mm256_set_m128i(_mm256_cvttpd_epi32(_mm256_add_pd(b, half)),
                          _mm256_cvttpd_epi32(_mm256_add_pd(a, half)));
}
IMPIPE_TARGET_v3 inline __m256 spread_v3(float x) { return _mm256_set1_ps(x); }
IMPIPE_TARGET_v3 inline __m256d spread_v3(double x) { return _mm256_set1_pd(x); }

template <class real>
IMPIPE_TARGET_v3 void store_codes_v3(std::uint8_t* out, const real* in, std::int64_t n) {
  const auto largest = spread_v3(real(255));
  // Packing works in halves of a register; this puts the quarters of 8 codes in order.
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  std::int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m256i a = _mm256_packus_epi32(codes_v3(in + i, largest), codes_v3(in + i + 8, largest));
    const __m256i b =
        _mm256_packus_epi32(codes_v3(in + i + 16, largest), codes_v3(in + i + 24, largest));
    const __m256i codes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(a, b), order);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), codes);
  }
  for (; i < n; ++i) out[i] = code_of<real, std::uint8_t>(in[i]);
}

template <class real>
IMPIPE_TARGET_v3 void store_codes_v3(std::uint16_t* out, const real* in, std::int64_t n) {
  const auto largest = spread_v3(real(65535));
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m256i a = _mm256_packus_epi32(codes_v3(in + i, largest), codes_v3(in + i + 8, largest));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_permute4x64_epi64(a, 0xd8));
  }
  for (; i < n; ++i) out[i] = code_of<real, std::uint16_t>(in[i]);
}
#endif

template <class real, class T>
void store_codes(std::byte* out, const real* in, std::int64_t n, CpuLevel level) {
#if IMPIPE_HAS_INTRINSICS
  if (level == CpuLevel::v4) return store_codes_v4(reinterpret_cast<T*>(out), in, n);
  if (level == CpuLevel::v3) return store_codes_v3(reinterpret_cast<T*>(out), in, n);
#endif
  store_code<real, T>[static_cast<int>(level)](in, out, n);
}

#if IMPIPE_HAS_INTRINSICS
// Whole lines of 64 bytes.
IMPIPE_TARGET_v4 void stream_lines_v4(std::byte* out, const std::byte* in, std::int64_t lines) {
  for (std::int64_t k = 0; k < 64 * lines; k += 64) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(out + k), _mm512_loadu_si512(in + k));
  }
}
IMPIPE_TARGET_v3 void stream_lines_v3(std::byte* out, const std::byte* in, std::int64_t lines) {
  for (std::int64_t k = 0; k < 64 * lines; k += 32) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(out + k),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + k)));
  }
}
#endif

template <class T>
void fill(std::byte* out, T value, std::int64_t n) {
  T* to = reinterpret_cast<T*>(out);
  for (std::int64_t i = 0; i < n; ++i) to[i] = value;
}

}  // namespace

template <class real>
void load_row(real* out, const std::byte* in, PixelClass cls, std::int64_t n, CpuLevel level) {
  const int l = static_cast<int>(level);
#if IMPIPE_HAS_INTRINSICS
  if constexpr (sizeof(real) == sizeof(float)) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(in);
    if (bytes_of(cls) == 1 && level == CpuLevel::v4) return load_bytes_v4(out, bytes, n);
    if (bytes_of(cls) == 1 && level == CpuLevel::v3) return load_bytes_v3(out, bytes, n);
  } else if (cls != PixelClass::single && level != CpuLevel::baseline) {
    const auto load_codes = [&](const auto* codes) {
      level == CpuLevel::v4 ? load_codes_v4(out, codes, n) : load_codes_v3(out, codes, n);
    };
    return bytes_of(cls) == 1 ? load_codes(reinterpret_cast<const std::uint8_t*>(in))
                              : load_codes(reinterpret_cast<const std::uint16_t*>(in));
  }
#endif
  switch (cls) {
    case PixelClass::logical:
    case PixelClass::uint8: return load<std::uint8_t, real>[l](in, out, n);
    case PixelClass::uint16: return load<std::uint16_t, real>[l](in, out, n);
    case PixelClass::single: return load<float, real>[l](in, out, n);
  }
}

template <class real>
void store_row(std::byte* out, const real* in, PixelClass cls, std::int64_t n, CpuLevel level) {
  const int l = static_cast<int>(level);
  switch (cls) {
    case PixelClass::logical: return store_logical<real>[l](in, out, n);
    case PixelClass::uint8: return store_codes<real, std::uint8_t>(out, in, n, level);
    case PixelClass::uint16: return store_codes<real, std::uint16_t>(out, in, n, level);
    case PixelClass::single: return load<real, float>[l](in, out, n);
  }
}

template void load_row(float*, const std::byte*, PixelClass, std::int64_t, CpuLevel);
template void load_row(double*, const std::byte*, PixelClass, std::int64_t, CpuLevel);
template void store_row(std::byte*, const float*, PixelClass, std::int64_t, CpuLevel);
template void store_row(std::byte*, const double*, PixelClass, std::int64_t, CpuLevel);

void stream_row(std::byte* out, const std::byte* in, std::int64_t bytes,
                [[maybe_unused]] CpuLevel level) {
  std::int64_t done = 0;
#if IMPIPE_HAS_INTRINSICS
  if (level != CpuLevel::baseline) {
    const auto before = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(out) % 64);
    const std::int64_t head = std::min(before, bytes), lines = (bytes - head) / 64;
    std::memcpy(out, in, static_cast<std::size_t>(head));
    (level == CpuLevel::v4 ? stream_lines_v4 : stream_lines_v3)(out + head, in + head, lines);
    done = head + 64 * lines;
  }
#endif
  std::memcpy(out + done, in + done, static_cast<std::size_t>(bytes - done));
}

void end_streams() {
#if IMPIPE_HAS_INTRINSICS
  _mm_sfence();
#endif
}

void fill_elements(std::byte* out, PixelClass cls, double value, std::int64_t n) {
  switch (cls) {
    case PixelClass::logical: return fill<std::uint8_t>(out, value != 0 ? 1 : 0, n);
    case PixelClass::uint8:
      return fill(out, static_cast<std::uint8_t>(bodies::to_code(value, 255.0)), n);
    case PixelClass::uint16:
      return fill(out, static_cast<std::uint16_t>(bodies::to_code(value, 65535.0)), n);
    case PixelClass::single: return fill(out, static_cast<float>(value), n);
  }
}

bool is_code(double value, PixelClass cls) {
  return cls == PixelClass::single || (value >= 0 && value <= class_max(cls) &&
                                       value == static_cast<double>(static_cast<int>(value)));
}

}  // namespace impipe::cpu
