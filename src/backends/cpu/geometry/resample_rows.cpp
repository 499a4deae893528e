// The inner parts of resampling for each instruction set.
#include "backends/cpu/geometry/resample_rows.hpp"

#include <algorithm>

#include "backends/cpu/simd/vectors.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {
namespace {

#define IMPIPE_KERNELS "backends/cpu/geometry/resample_rows.inc"
#include "backends/cpu/simd/each_level.inc"

// Of two pixels of each of two rows; a half is rounded up.
template <class T>
T mean_of_four(const T* upper, const T* lower) {
  const std::uint32_t sum = std::uint32_t{upper[0]} + upper[1] + lower[0] + lower[1];
  return static_cast<T>((sum + 2) >> 2);
}

// Of three of four parts, and again along the row, whose ends stand for what lies beyond.
template <class T>
void double_few(T* out, const T* nearer, const T* farther, std::int64_t n) {
  const auto sum = [&](std::int64_t i) {
    const std::int64_t k = std::clamp<std::int64_t>(i, 0, n - 1);
    return 3 * std::uint32_t{nearer[k]} + farther[k];
  };
  for (std::int64_t i = 0; i < n; ++i) {
    out[2 * i] = static_cast<T>((3 * sum(i) + sum(i - 1) + 8) >> 4);
    out[2 * i + 1] = static_cast<T>((3 * sum(i) + sum(i + 1) + 8) >> 4);
  }
}

#if IMPIPE_HAS_INTRINSICS
#define IMPIPE_KERNELS "backends/cpu/geometry/whole_ratio_rows.inc"
#include "backends/cpu/simd/vector_levels.inc"

HalveRow halve_in_vectors(PixelClass cls, CpuLevel level) {
  if (level == CpuLevel::baseline) return nullptr;
  constexpr HalveRow functions[][3] = {
      {v3::halve_codes<std::uint8_t>, v3::halve_codes<std::uint16_t>, v3::halve_floats},
      {v4::halve_codes<std::uint8_t>, v4::halve_codes<std::uint16_t>, v4::halve_floats}};
  const int bytes = bytes_of(cls);
  return functions[level == CpuLevel::v4 ? 1 : 0][bytes == 4 ? 2 : bytes - 1];
}
DoubleRow double_in_vectors(PixelClass cls, CpuLevel level) {
  if (level == CpuLevel::baseline) return nullptr;
  constexpr DoubleRow functions[][2] = {{v3::double_codes<std::uint8_t, std::uint16_t>,
                                         v3::double_codes<std::uint16_t, std::int32_t>},
                                        {v4::double_codes<std::uint8_t, std::uint16_t>,
                                         v4::double_codes<std::uint16_t, std::int32_t>}};
  return functions[level == CpuLevel::v4 ? 1 : 0][bytes_of(cls) - 1];
}
#else
HalveRow halve_in_vectors(PixelClass, CpuLevel) { return nullptr; }
DoubleRow double_in_vectors(PixelClass, CpuLevel) { return nullptr; }
#endif

template <class T>
void halve_codes(std::byte* out, const std::byte* upper, const std::byte* lower, std::int64_t n) {
  const T* a = reinterpret_cast<const T*>(upper);
  const T* b = reinterpret_cast<const T*>(lower);
  for (std::int64_t i = 0; i < n; ++i) {
    reinterpret_cast<T*>(out)[i] = mean_of_four(a + 2 * i, b + 2 * i);
  }
}

}  // namespace

HalveRow halve_row(PixelClass cls, CpuLevel level) {
  if (cls == PixelClass::logical) return nullptr;
  if (const HalveRow halve = halve_in_vectors(cls, level); halve != nullptr) return halve;
  return cls == PixelClass::uint8    ? halve_codes<std::uint8_t>
         : cls == PixelClass::uint16 ? halve_codes<std::uint16_t>
                                     : nullptr;
}

DoubleRow double_row(PixelClass cls, CpuLevel level) {
  return cls == PixelClass::uint8 || cls == PixelClass::uint16 ? double_in_vectors(cls, level)
                                                               : nullptr;
}

TurnRows rows_to_lanes(CpuLevel level) { return IMPIPE_AT_LEVEL(level, to_lanes); }

TurnRows lanes_to_rows(CpuLevel level) { return IMPIPE_AT_LEVEL(level, to_rows); }

SumLanes sum_lanes(CpuLevel level) { return IMPIPE_AT_LEVEL(level, sum); }

int spread_lanes(CpuLevel level) {
#if IMPIPE_HAS_INTRINSICS
  constexpr int lanes[cpu_levels] = {0, 8, 16};
  return lanes[static_cast<int>(level)];
#else
  static_cast<void>(level);
  return 0;
#endif
}

SpreadRow spread_row(const SpreadTable& table, CpuLevel level) {
  return IMPIPE_AT_LEVEL(level, spread_of)(table);
}

SumRows sum_rows(PixelClass cls, int taps, CpuLevel level) {
  return with_pixel(
      cls, [&](auto pixel) { return IMPIPE_AT_LEVEL(level, sum_of<decltype(pixel)>)(taps); });
}

}  // namespace impipe::cpu
