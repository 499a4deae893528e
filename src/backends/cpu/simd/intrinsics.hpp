// The processor's own instructions, for the few kernels that plain loops don't compile well to.
#pragma once

#if defined(__x86_64__) && !defined(__clang__)
#define IMPIPE_HAS_INTRINSICS 1
// False alarms of g++ 12 inside its own header (PR 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
// x86-64-v4 and the byte permutations that its later processors have.
#define IMPIPE_TARGET_VBMI __attribute__((target("arch=x86-64-v4,avx512vbmi")))
#else
#define IMPIPE_HAS_INTRINSICS 0
#endif
