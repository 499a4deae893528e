// Whether the processor has the instructions of x86-64-v3, for which IMPIPE_TARGET_v3 compiles.
#pragma once

namespace impipe {

inline bool has_v3() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                          __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  return has;
#else
  return false;
#endif
}

}  // namespace impipe
