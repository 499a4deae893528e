// Rows of pixels as rows of numbers, and back: plain loops that the compiler vectorises.
#include "backends/cpu/tile/rows.hpp"

#include <algorithm>
#include <cstring>

#include "backends/cpu/simd/level.hpp"
#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

template <class T, class real>
IMPIPE_INLINE void convert_body(const void* in, void* out, std::int64_t n) {
  const T* __restrict a = static_cast<const T*>(in);
  real* __restrict b = static_cast<real*>(out);
  for (std::int64_t i = 0; i < n; ++i) b[i] = static_cast<real>(a[i]);
}

// The largest number below a half. Adding it and dropping the fraction rounds half away from zero
// for every number from 0 to 65535: 0.5 itself would take the number just below a half to 1.
constexpr float below_half(float) { return 0x1.fffffep-2f; }
constexpr double below_half(double) { return 0x1.fffffffffffffp-2; }

template <class real, class T>
constexpr real largest_code = sizeof(T) == 1 ? real(255) : real(65535);
template <class real, class T>
IMPIPE_INLINE T code_of(real x) {
  constexpr real largest = largest_code<real, T>;
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

IMPIPE_CPU_KERNEL(convert, (const void* in, void* out, std::int64_t n), (in, out, n))
IMPIPE_CPU_KERNEL(store_code, (const void* in, void* out, std::int64_t n), (in, out, n))
IMPIPE_CPU_KERNEL(store_logical, (const void* in, void* out, std::int64_t n), (in, out, n))
// What the compiler makes of the loops above takes three to four times as long.
#define IMPIPE_KERNELS "backends/cpu/tile/rows.inc"
#include "backends/cpu/simd/vector_levels.inc"

template <class real, class T>
void store_codes(std::byte* out, const real* in, std::int64_t n, CpuLevel level) {
#if IMPIPE_HAS_INTRINSICS
  if (level == CpuLevel::v4) return v4::store_in_codes(reinterpret_cast<T*>(out), in, n);
  if (level == CpuLevel::v3) return v3::store_in_codes(reinterpret_cast<T*>(out), in, n);
#endif
  store_code<real, T>[static_cast<int>(level)](in, out, n);
}

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
    if (bytes_of(cls) == 1 && level == CpuLevel::v4) return v4::load_bytes(out, bytes, n);
    if (bytes_of(cls) == 1 && level == CpuLevel::v3) return v3::load_bytes(out, bytes, n);
  }
#endif
  switch (cls) {
    case PixelClass::logical:
    case PixelClass::uint8: return convert<std::uint8_t, real>[l](in, out, n);
    case PixelClass::uint16: return convert<std::uint16_t, real>[l](in, out, n);
    case PixelClass::single: return convert<float, real>[l](in, out, n);
  }
}

template <class real>
void store_row(std::byte* out, const real* in, PixelClass cls, std::int64_t n, CpuLevel level) {
  const int l = static_cast<int>(level);
  switch (cls) {
    case PixelClass::logical: return store_logical<real>[l](in, out, n);
    case PixelClass::uint8: return store_codes<real, std::uint8_t>(out, in, n, level);
    case PixelClass::uint16: return store_codes<real, std::uint16_t>(out, in, n, level);
    case PixelClass::single: return convert<real, float>[l](in, out, n);
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
    (level == CpuLevel::v4 ? v4::stream_lines : v3::stream_lines)(out + head, in + head, lines);
    done = head + 64 * lines;
  }
#endif
  std::memcpy(out + done, in + done, static_cast<std::size_t>(bytes - done));
}

void end_streams() {
#if IMPIPE_HAS_INTRINSICS
  _mm_sfence();  // of every x86-64
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
