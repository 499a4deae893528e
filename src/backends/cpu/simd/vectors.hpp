// The vocabulary of vector kernels for all instruction sets.
#pragma once

#include "backends/cpu/simd/baseline.hpp"
#include "backends/cpu/simd/v3.hpp"
#include "backends/cpu/simd/v4.hpp"

// What vector_levels.inc compiled for a level; `plain` where it compiled nothing.
#if IMPIPE_HAS_INTRINSICS
#define IMPIPE_VECTORS_OR(level, plain, ...) \
  ((level) == CpuLevel::v4 ? v4::__VA_ARGS__ : (level) == CpuLevel::v3 ? v3::__VA_ARGS__ : plain)
#else
#define IMPIPE_VECTORS_OR(level, plain, ...) (static_cast<void>(level), plain)
#endif

// What each_level.inc compiled for a level.
#define IMPIPE_AT_LEVEL(level, ...)            \
  ((level) == CpuLevel::v4   ? v4::__VA_ARGS__ \
   : (level) == CpuLevel::v3 ? v3::__VA_ARGS__ \
                             : baseline::__VA_ARGS__)
