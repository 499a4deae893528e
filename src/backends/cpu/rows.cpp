// Rows of pixels as rows of numbers, and back: plain loops that the compiler vectorises.
#include "backends/cpu/rows.hpp"

#include "backends/cpu/level.hpp"

namespace impipe::cpu {
namespace {

template <class T, class real>
IMPIPE_INLINE void load_body(const void* in, void* out, std::int64_t n) {
  const T* __restrict a = static_cast<const T*>(in);
  real* __restrict b = static_cast<real*>(out);
  for (std::int64_t i = 0; i < n; ++i) b[i] = static_cast<real>(a[i]);
}

// The code of a number: an integer type to go through makes the conversion a vector one.
template <class real, class T>
IMPIPE_INLINE void store_code_body(const void* in, void* out, std::int64_t n) {
  const real* __restrict a = static_cast<const real*>(in);
  T* __restrict b = static_cast<T*>(out);
  constexpr real largest = sizeof(T) == 1 ? real(255) : real(65535);
  for (std::int64_t i = 0; i < n; ++i) {
    b[i] = static_cast<T>(static_cast<std::int32_t>(bodies::to_code(a[i], largest)));
  }
}

template <class real>
IMPIPE_INLINE void store_logical_body(const void* in, void* out, std::int64_t n) {
  const real* __restrict a = static_cast<const real*>(in);
  std::uint8_t* __restrict b = static_cast<std::uint8_t*>(out);
  for (std::int64_t i = 0; i < n; ++i) b[i] = a[i] != real(0) ? 1 : 0;
}

template <class real>
IMPIPE_INLINE void gather_body(const void* in, void* out, std::int64_t n, std::int64_t step) {
  const real* __restrict a = static_cast<const real*>(in);
  real* __restrict b = static_cast<real*>(out);
  if (step == 3) {
    for (std::int64_t i = 0; i < n; ++i) b[i] = a[i * 3];
  } else {
    for (std::int64_t i = 0; i < n; ++i) b[i] = a[i * step];
  }
}

template <class real>
IMPIPE_INLINE void scatter_body(const void* in, void* out, std::int64_t n, std::int64_t step) {
  const real* __restrict a = static_cast<const real*>(in);
  real* __restrict b = static_cast<real*>(out);
  for (std::int64_t i = 0; i < n; ++i) b[i * step] = a[i];
}

IMPIPE_CPU_KERNEL(load, (const void* in, void* out, std::int64_t n), (in, out, n))
IMPIPE_CPU_KERNEL(store_code, (const void* in, void* out, std::int64_t n), (in, out, n))
IMPIPE_CPU_KERNEL(store_logical, (const void* in, void* out, std::int64_t n), (in, out, n))
IMPIPE_CPU_KERNEL(gather, (const void* in, void* out, std::int64_t n, std::int64_t step),
                  (in, out, n, step))
IMPIPE_CPU_KERNEL(scatter, (const void* in, void* out, std::int64_t n, std::int64_t step),
                  (in, out, n, step))

template <class T>
void fill(std::byte* out, T value, std::int64_t n) {
  T* to = reinterpret_cast<T*>(out);
  for (std::int64_t i = 0; i < n; ++i) to[i] = value;
}

}  // namespace

template <class real>
void load_row(real* out, const std::byte* in, PixelClass cls, std::int64_t n, CpuLevel level) {
  const int l = static_cast<int>(level);
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
    case PixelClass::uint8: return store_code<real, std::uint8_t>[l](in, out, n);
    case PixelClass::uint16: return store_code<real, std::uint16_t>[l](in, out, n);
    case PixelClass::single: return load<real, float>[l](in, out, n);
  }
}

template <class real>
void gather_row(real* out, const real* in, std::int64_t step, std::int64_t n, CpuLevel level) {
  gather<real>[static_cast<int>(level)](in, out, n, step);
}

template <class real>
void scatter_row(real* out, const real* in, std::int64_t step, std::int64_t n, CpuLevel level) {
  scatter<real>[static_cast<int>(level)](in, out, n, step);
}

template void load_row(float*, const std::byte*, PixelClass, std::int64_t, CpuLevel);
template void load_row(double*, const std::byte*, PixelClass, std::int64_t, CpuLevel);
template void store_row(std::byte*, const float*, PixelClass, std::int64_t, CpuLevel);
template void store_row(std::byte*, const double*, PixelClass, std::int64_t, CpuLevel);
template void gather_row(float*, const float*, std::int64_t, std::int64_t, CpuLevel);
template void gather_row(double*, const double*, std::int64_t, std::int64_t, CpuLevel);
template void scatter_row(float*, const float*, std::int64_t, std::int64_t, CpuLevel);
template void scatter_row(double*, const double*, std::int64_t, std::int64_t, CpuLevel);

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

}  // namespace impipe::cpu
