// The inner parts of error diffusion for each instruction set.
#include "backends/cpu/transform/diffuse_steps.hpp"

#include "backends/cpu/simd/vectors.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {
namespace {

#define IMPIPE_KERNELS "backends/cpu/transform/diffuse_steps.inc"
#include "backends/cpu/simd/each_level.inc"

}  // namespace

RunDiffuseSteps run_diffuse_steps(CpuLevel level) { return IMPIPE_AT_LEVEL(level, run_steps); }

// logical and uint8 are read alike.
ScalePixels scale_pixels(PixelClass cls, CpuLevel level) {
  return with_pixel(cls,
                    [&](auto pixel) { return IMPIPE_AT_LEVEL(level, scale<decltype(pixel)>); });
}

}  // namespace impipe::cpu
