// The instruction set in use, and how a kernel is compiled once for each.
#pragma once

#include "core/body.hpp"

namespace impipe::cpu {

// The best level the processor has; IMPIPE_CPU_LEVEL=baseline|v3|v4 chooses another. Throws Error
// when that is none of these or the processor lacks it.
CpuLevel cpu_level();
const char* name_of(CpuLevel level);
bool has_level(CpuLevel level);

}  // namespace impipe::cpu

// From an always_inline template NAME_body: NAME<Types...>[level], a table of functions. The body
// may call no inline function of the standard library: compiled for a level, it could be the copy
// that the linker keeps for all.
#define IMPIPE_CPU_KERNEL(NAME, PARAMETERS, ARGUMENTS)            \
  template <class... Types>                                       \
  IMPIPE_TARGET_baseline static void NAME##_baseline PARAMETERS { \
    NAME##_body<Types...> ARGUMENTS;                              \
  }                                                               \
  template <class... Types>                                       \
  IMPIPE_TARGET_v3 static void NAME##_v3 PARAMETERS {             \
    NAME##_body<Types...> ARGUMENTS;                              \
  }                                                               \
  template <class... Types>                                       \
  IMPIPE_TARGET_v4 static void NAME##_v4 PARAMETERS {             \
    NAME##_body<Types...> ARGUMENTS;                              \
  }                                                               \
  template <class... Types>                                       \
  constexpr void(*NAME[cpu_levels])                               \
      PARAMETERS = {NAME##_baseline<Types...>, NAME##_v3<Types...>, NAME##_v4<Types...>};
