// The inner parts of resampling for each instruction set.
#include "backends/cpu/geometry/resample_rows.hpp"

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

#define IMPIPE_KERNELS "backends/cpu/geometry/resample_rows.inc"
#include "backends/cpu/simd/each_level.inc"

#if IMPIPE_HAS_INTRINSICS
#define IMPIPE_VECTORS_ONLY
#define IMPIPE_KERNELS "backends/cpu/geometry/whole_ratio_rows.inc"
#include "backends/cpu/simd/each_level.inc"
#undef IMPIPE_VECTORS_ONLY

HalveRow halve_floats(CpuLevel level) {
  constexpr HalveRow functions[cpu_levels] = {nullptr, v3::halve_floats, v4::halve_floats};
  return functions[static_cast<int>(level)];
}
SpreadRow whole_ratio_spread(const SpreadTable& table, CpuLevel level) {
  return level == CpuLevel::v4   ? v4::whole_ratio_spread(table)
         : level == CpuLevel::v3 ? v3::whole_ratio_spread(table)
                                 : nullptr;
}
#else
HalveRow halve_floats(CpuLevel) { return nullptr; }
SpreadRow whole_ratio_spread(const SpreadTable&, CpuLevel) { return nullptr; }
#endif

template <class T>
IMPIPE_INLINE void halve_body(std::byte* out, const std::byte* upper, const std::byte* lower,
                              std::int64_t n) {
  const T* __restrict a = reinterpret_cast<const T*>(upper);
  const T* __restrict b = reinterpret_cast<const T*>(lower);
  T* __restrict to = reinterpret_cast<T*>(out);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint32_t sum = std::uint32_t{a[2 * i]} + a[2 * i + 1] + b[2 * i] + b[2 * i + 1];
    to[i] = static_cast<T>((sum + 2) >> 2);
  }
}
IMPIPE_CPU_KERNEL(halve,
                  (std::byte * out, const std::byte* upper, const std::byte* lower, std::int64_t n),
                  (out, upper, lower, n))

template <bool nearest>
WarpRow warp_of(PixelClass cls, CpuLevel level) {
  static constexpr WarpRow functions[cpu_levels][3] = {
      {baseline::warp<std::uint8_t, nearest>, baseline::warp<std::uint16_t, nearest>,
       baseline::warp<float, nearest>},
      {v3::warp<std::uint8_t, nearest>, v3::warp<std::uint16_t, nearest>, v3::warp<float, nearest>},
      {v4::warp<std::uint8_t, nearest>, v4::warp<std::uint16_t, nearest>,
       v4::warp<float, nearest>}};
  const int bytes = bytes_of(cls);
  return functions[static_cast<int>(level)][bytes == 4 ? 2 : bytes - 1];
}

}  // namespace

HalveRow halve_row(PixelClass cls, CpuLevel level) {
  const int at = static_cast<int>(level);
  switch (cls) {
    case PixelClass::logical: return nullptr;
    case PixelClass::uint8: return halve<std::uint8_t>[at];
    case PixelClass::uint16: return halve<std::uint16_t>[at];
    case PixelClass::single: return halve_floats(level);
  }
  return nullptr;
}

TurnRows rows_to_lanes(CpuLevel level) {
  constexpr TurnRows functions[cpu_levels] = {baseline::to_lanes, v3::to_lanes, v4::to_lanes};
  return functions[static_cast<int>(level)];
}

TurnRows lanes_to_rows(CpuLevel level) {
  constexpr TurnRows functions[cpu_levels] = {baseline::to_rows, v3::to_rows, v4::to_rows};
  return functions[static_cast<int>(level)];
}

SumLanes sum_lanes(CpuLevel level) {
  constexpr SumLanes functions[cpu_levels] = {baseline::sum, v3::sum, v4::sum};
  return functions[static_cast<int>(level)];
}

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
  if (const SpreadRow spread = whole_ratio_spread(table, level); spread != nullptr) return spread;
  constexpr decltype(&baseline::spread_of) choices[cpu_levels] = {baseline::spread_of,
                                                                  v3::spread_of, v4::spread_of};
  return choices[static_cast<int>(level)](table);
}

SumRows sum_rows(PixelClass cls, int taps, CpuLevel level) {
  using Choose = SumRows (*)(int);
  static constexpr Choose functions[cpu_levels][3] = {
      {baseline::sum_of<std::uint8_t>, baseline::sum_of<std::uint16_t>, baseline::sum_of<float>},
      {v3::sum_of<std::uint8_t>, v3::sum_of<std::uint16_t>, v3::sum_of<float>},
      {v4::sum_of<std::uint8_t>, v4::sum_of<std::uint16_t>, v4::sum_of<float>}};
  const int bytes = bytes_of(cls);
  return functions[static_cast<int>(level)][bytes == 4 ? 2 : bytes - 1](taps);
}

WarpRow warp_row(PixelClass cls, bool nearest, CpuLevel level) {
  return nearest ? warp_of<true>(cls, level) : warp_of<false>(cls, level);
}

}  // namespace impipe::cpu
