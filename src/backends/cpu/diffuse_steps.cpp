// The inner parts of error diffusion for each instruction set.
#include "backends/cpu/diffuse_steps.hpp"

namespace impipe::cpu {
namespace {

namespace baseline {
#define LEVEL_TARGET
#include "backends/cpu/diffuse_steps.inc"
#undef LEVEL_TARGET
}  // namespace baseline
namespace v3 {
#define LEVEL_TARGET IMPIPE_TARGET_v3
#include "backends/cpu/diffuse_steps.inc"
#undef LEVEL_TARGET
}  // namespace v3
namespace v4 {
#define LEVEL_TARGET IMPIPE_TARGET_v4
#include "backends/cpu/diffuse_steps.inc"
#undef LEVEL_TARGET
}  // namespace v4

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
