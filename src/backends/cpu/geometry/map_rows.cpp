// A row of an image that is moved by any map, for each instruction set.
#include "backends/cpu/geometry/map_rows.hpp"

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

using Method = Resample::Method;

#define IMPIPE_KERNELS "backends/cpu/geometry/map_rows.inc"
#include "backends/cpu/simd/each_level.inc"

template <Method method, bool on_image>
MapRow map_of(int bytes, CpuLevel level) {
  static constexpr MapRow functions[cpu_levels][3] = {
      {baseline::map<std::uint8_t, method, on_image>,
       baseline::map<std::uint16_t, method, on_image>, baseline::map<float, method, on_image>},
      {v3::map<std::uint8_t, method, on_image>, v3::map<std::uint16_t, method, on_image>,
       v3::map<float, method, on_image>},
      {v4::map<std::uint8_t, method, on_image>, v4::map<std::uint16_t, method, on_image>,
       v4::map<float, method, on_image>}};
  return functions[static_cast<int>(level)][bytes == 4 ? 2 : bytes - 1];
}

template <bool on_image>
MapRow map_by(Method method, int bytes, CpuLevel level) {
  switch (method) {
    case Method::nearest: return map_of<Method::nearest, on_image>(bytes, level);
    case Method::bicubic: return map_of<Method::bicubic, on_image>(bytes, level);
    default: return map_of<Method::bilinear, on_image>(bytes, level);
  }
}

}  // namespace

MapRow map_row(PixelClass cls, const Resample& resample, CpuLevel level) {
  const int bytes = bytes_of(cls);
  return resample.beside == Resample::Beside::on_image
             ? map_by<true>(resample.method, bytes, level)
             : map_by<false>(resample.method, bytes, level);
}

}  // namespace impipe::cpu
