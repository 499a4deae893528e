// The inner parts of error diffusion for each instruction set.
#include "backends/cpu/transform/diffuse_steps.hpp"

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

#define IMPIPE_KERNELS "backends/cpu/transform/diffuse_steps.inc"
#include "backends/cpu/simd/each_level.inc"

}  // namespace

RunDiffuseSteps run_diffuse_steps(CpuLevel level) {
  return level == CpuLevel::v4   ? v4::run_steps
         : level == CpuLevel::v3 ? v3::run_steps
                                 : baseline::run_steps;
}

// logical and uint8 are read alike.
ScalePixels scale_pixels(PixelClass cls, CpuLevel level) {
#define IMPIPE_SCALE(T) \
  level == CpuLevel::v4 ? v4::scale<T> : level == CpuLevel::v3 ? v3::scale<T> : baseline::scale<T>
  if (cls == PixelClass::single) return IMPIPE_SCALE(float);
  if (cls == PixelClass::uint16) return IMPIPE_SCALE(std::uint16_t);
  return IMPIPE_SCALE(std::uint8_t);
#undef IMPIPE_SCALE
}

}  // namespace impipe::cpu
