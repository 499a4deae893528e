// Chooses the instruction set.
#include "backends/cpu/simd/level.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/has_v3.hpp"

namespace impipe::cpu {
namespace {

constexpr CpuLevel levels[] = {CpuLevel::baseline, CpuLevel::v3, CpuLevel::v4};

CpuLevel choose() {
  const char* wanted = std::getenv("IMPIPE_CPU_LEVEL");
  if (wanted != nullptr && *wanted != 0) {
    for (const CpuLevel level : levels) {
      if (std::string_view(wanted) != name_of(level)) continue;
      if (has_level(level)) return level;
      throw Error("IMPIPE_CPU_LEVEL=" + std::string(wanted) + ": this processor lacks it",
                  ExitCode::backend);
    }
    throw Error("IMPIPE_CPU_LEVEL=" + std::string(wanted) + ": it is baseline, v3 or v4",
                ExitCode::backend);
  }
  CpuLevel best = CpuLevel::baseline;
  for (const CpuLevel level : levels) {
    if (has_level(level)) best = level;
  }
  return best;
}

}  // namespace

const char* name_of(CpuLevel level) {
  switch (level) {
    case CpuLevel::baseline: return "baseline";
    case CpuLevel::v3: return "v3";
    case CpuLevel::v4: return "v4";
  }
  return "?";
}

bool has_level(CpuLevel level) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v3 = has_v3();
  if (level == CpuLevel::v3) return v3;
  if (level == CpuLevel::v4) {
    return v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  }
#endif
  return level == CpuLevel::baseline;
}

CpuLevel cpu_level() {
  static const CpuLevel level = choose();
  return level;
}

}  // namespace impipe::cpu
