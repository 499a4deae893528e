// A row of an image that is moved by any map, for each instruction set.
#include "backends/cpu/geometry/map_rows.hpp"

#include "backends/cpu/simd/vectors.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {
namespace {

using Method = Resample::Method;

#define IMPIPE_KERNELS "backends/cpu/geometry/map_rows.inc"
#include "backends/cpu/simd/each_level.inc"

template <class T, bool on_image>
MapRow map_by(Method method, CpuLevel level) {
  switch (method) {
    case Method::nearest: return IMPIPE_AT_LEVEL(level, map<T, Method::nearest, on_image>);
    case Method::bicubic: return IMPIPE_AT_LEVEL(level, map<T, Method::bicubic, on_image>);
    default: return IMPIPE_AT_LEVEL(level, map<T, Method::bilinear, on_image>);
  }
}

}  // namespace

MapRow map_row(PixelClass cls, const Resample& resample, CpuLevel level) {
  const bool on_image = resample.beside == Resample::Beside::on_image;
  return with_pixel(cls, [&](auto pixel) {
    using T = decltype(pixel);
    return on_image ? map_by<T, true>(resample.method, level)
                    : map_by<T, false>(resample.method, level);
  });
}

}  // namespace impipe::cpu
