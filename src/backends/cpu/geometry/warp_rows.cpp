// Bilinear affine maps in vectors, where all pixels of a vector lie inside the image.
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
WarpVectors vectors_of(PixelClass cls, CpuLevel level) {
  const int bytes = bytes_of(cls);
  if (level == CpuLevel::v3) {
    return bytes == 1   ? v3::warp<std::uint8_t>
           : bytes == 2 ? v3::warp<std::uint16_t>
                        : v3::warp<float>;
  }
  return bytes == 1   ? v4::warp<std::uint8_t>
         : bytes == 2 ? v4::warp<std::uint16_t>
                      : v4::warp<float>;
}
#endif

}  // namespace

void warp_bilinear(const AffineRow& row, PixelClass cls, CpuLevel level, float* out) {
  const WarpRow plain = warp_row(cls, false, level);
#if IMPIPE_HAS_INTRINSICS
  if (level != CpuLevel::baseline) return vectors_of(cls, level)(row, plain, out);
#endif
  plain(row, out);
}

}  // namespace impipe::cpu
