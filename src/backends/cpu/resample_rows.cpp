// The inner parts of resampling for each instruction set.
#include "backends/cpu/resample_rows.hpp"

#include "backends/cpu/intrinsics.hpp"

namespace impipe::cpu {
namespace {

namespace baseline {
#define LEVEL_TARGET
#define Vec float
#define WIDTH 1
#define LOAD(p) (*(p))
#define STORE(p, v) (*(p) = (v))
#define SET(x) (x)
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#define PLACED(v, p) (static_cast<void>(p), (v))
#include "backends/cpu/resample_rows.inc"
}  // namespace baseline

#if IMPIPE_HAS_INTRINSICS
namespace v3 {
#define LEVEL_TARGET IMPIPE_TARGET_v3
#define Vec __m256
#define WIDTH 8
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define SET(x) _mm256_set1_ps(x)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define PLACED(v, p) \
  _mm256_permutevar8x32_ps(v, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))
#include "backends/cpu/resample_rows.inc"
}  // namespace v3

namespace v4 {
#define LEVEL_TARGET IMPIPE_TARGET_v4
#define Vec __m512
#define WIDTH 16
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define SET(x) _mm512_set1_ps(x)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define PLACED(v, p) _mm512_permutexvar_ps(_mm512_loadu_si512(p), v)
#include "backends/cpu/resample_rows.inc"
}  // namespace v4
#else
namespace v3 = baseline;
namespace v4 = baseline;
#endif

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

SpreadRow spread_row(CpuLevel level) {
  constexpr SpreadRow functions[cpu_levels] = {baseline::spread, v3::spread, v4::spread};
  return functions[static_cast<int>(level)];
}

WarpRow warp_row(PixelClass cls, bool nearest, CpuLevel level) {
  return nearest ? warp_of<true>(cls, level) : warp_of<false>(cls, level);
}

}  // namespace impipe::cpu
