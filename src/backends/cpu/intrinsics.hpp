// The processor's own instructions, for the few kernels that plain loops don't compile well to.
#pragma once

#if defined(__x86_64__) && !defined(__clang__)
#define IMPIPE_HAS_INTRINSICS 1
// False alarms of g++ 12 inside its own header (PR 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#else
#define IMPIPE_HAS_INTRINSICS 0
#endif
