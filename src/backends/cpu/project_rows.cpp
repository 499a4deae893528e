// The inner part of the Radon transform for each instruction set.
#include "backends/cpu/project_rows.hpp"

namespace impipe::cpu {
namespace {

namespace baseline {
#define LEVEL_TARGET
#include "backends/cpu/project_rows.inc"
#undef LEVEL_TARGET
}  // namespace baseline
namespace v3 {
#define LEVEL_TARGET IMPIPE_TARGET_v3
#include "backends/cpu/project_rows.inc"
#undef LEVEL_TARGET
}  // namespace v3
namespace v4 {
#define LEVEL_TARGET IMPIPE_TARGET_v4
#include "backends/cpu/project_rows.inc"
#undef LEVEL_TARGET
}  // namespace v4

}  // namespace

AddRows add_rows(CpuLevel level) {
  return level == CpuLevel::v4 ? v4::add : level == CpuLevel::v3 ? v3::add : baseline::add;
}

}  // namespace impipe::cpu
