// Affine maps in vectors, where all pixels of a vector lie inside the image.
#include "backends/cpu/geometry/warp_rows.hpp"

#include <limits>

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

#if IMPIPE_HAS_INTRINSICS
#define IMPIPE_VECTORS_ONLY
#define IMPIPE_KERNELS "backends/cpu/geometry/warp_rows.inc"
#include "backends/cpu/simd/each_level.inc"

using WarpVectors = void (*)(const AffineRow& row, WarpRow plain, float* out);
template <class T>
WarpVectors vectors_of(bool nearest, CpuLevel level) {
  if (level == CpuLevel::v3) return nearest ? v3::warp_nearest<T> : v3::warp<T>;
  return nearest ? v4::warp_nearest<T> : v4::warp<T>;
}

WarpVectors vectors_of(PixelClass cls, bool nearest, CpuLevel level) {
  switch (bytes_of(cls)) {
    case 1: return vectors_of<std::uint8_t>(nearest, level);
    case 2: return vectors_of<std::uint16_t>(nearest, level);
    default: return vectors_of<float>(nearest, level);
  }
}
#endif

}  // namespace

void warp_in_vectors(const AffineRow& row, PixelClass cls, bool nearest, CpuLevel level,
                     float* out) {
  const WarpRow plain = warp_row(cls, nearest, level);
#if IMPIPE_HAS_INTRINSICS
  if (level != CpuLevel::baseline) return vectors_of(cls, nearest, level)(row, plain, out);
#endif
  plain(row, out);
}

}  // namespace impipe::cpu
