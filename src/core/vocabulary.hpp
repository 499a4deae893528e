// The vocabulary of bodies: the only functions a body may call, the same words in C++, CUDA C and
// OpenCL C. Ternaries instead of fmin, round and friends, because compilers vectorise the former
// and not the latter; every NaN rule is stated.
#pragma once

#include <cstdint>

#define IMPIPE_INLINE inline __attribute__((always_inline))

// Bodies live in this namespace too, so that these words hide the C library's.
namespace impipe::bodies {

// NaN rule of min and max: the second argument unless the comparison holds.
#define IMPIPE_VOCABULARY(real, suffix)                                                      \
  IMPIPE_INLINE real min(real a, real b) { return a < b ? a : b; }                           \
  IMPIPE_INLINE real max(real a, real b) { return a > b ? a : b; }                           \
  /* NaN stays NaN. */                                                                       \
  IMPIPE_INLINE real clamp(real x, real low, real high) {                                    \
    return x < low ? low : (x > high ? high : x);                                            \
  }                                                                                          \
  IMPIPE_INLINE real abs(real x) { return __builtin_fabs##suffix(x); }                       \
  IMPIPE_INLINE real floor(real x) { return __builtin_floor##suffix(x); }                    \
  IMPIPE_INLINE real ceil(real x) { return __builtin_ceil##suffix(x); }                      \
  IMPIPE_INLINE real trunc(real x) { return __builtin_trunc##suffix(x); }                    \
  IMPIPE_INLINE real sqrt(real x) { return __builtin_sqrt##suffix(x); }                      \
  IMPIPE_INLINE real fma(real a, real b, real c) { return __builtin_fma##suffix(a, b, c); }  \
  IMPIPE_INLINE real pow(real x, real y) { return __builtin_pow##suffix(x, y); }             \
  IMPIPE_INLINE real exp(real x) { return __builtin_exp##suffix(x); }                        \
  IMPIPE_INLINE real log(real x) { return __builtin_log##suffix(x); }                        \
  IMPIPE_INLINE real sin(real x) { return __builtin_sin##suffix(x); }                        \
  IMPIPE_INLINE real cos(real x) { return __builtin_cos##suffix(x); }                        \
  IMPIPE_INLINE real tan(real x) { return __builtin_tan##suffix(x); }                        \
  IMPIPE_INLINE real atan2(real y, real x) { return __builtin_atan2##suffix(y, x); }         \
  /* Half away from zero; exact for every finite value. floor(x + 0.5) is not: it takes     \
     0.49999997f to 1. */                                                                    \
  IMPIPE_INLINE real round_away(real x) {                                                    \
    const real whole = trunc(x);                                                             \
    const real rest = x - whole;                                                             \
    return whole + (rest >= real(0.5) ? real(1) : real(0)) -                                 \
           (rest <= real(-0.5) ? real(1) : real(0));                                         \
  }                                                                                          \
  /* What a value becomes in an integer class with this largest code: NaN is 0. */           \
  IMPIPE_INLINE real to_code(real x, real largest) {                                         \
    const real positive = x > real(0) ? x : real(0);                                         \
    return round_away(positive < largest ? positive : largest);                              \
  }
IMPIPE_VOCABULARY(float, f)
IMPIPE_VOCABULARY(double, )
#undef IMPIPE_VOCABULARY

}  // namespace impipe::bodies
