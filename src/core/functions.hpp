// exp, log, pow, cube_root, sin, cos, tan and atan2 in C++: core/functions.clh, which kernels have
// too.
#pragma once

#include <cmath>
#include <cstdint>

namespace impipe::functions {

using uint = std::uint32_t;
using ulong = std::uint64_t;

#define FUNCTION inline __attribute__((always_inline))
#define FUNCTION_SELDOM inline __attribute__((noinline))
#define CONSTANT inline constexpr
#define FLOAT_BITS(value) __builtin_bit_cast(uint, value)
#define BITS_FLOAT(bits) __builtin_bit_cast(float, bits)
#define DOUBLE_BITS(value) __builtin_bit_cast(ulong, value)
#define BITS_DOUBLE(bits) __builtin_bit_cast(double, bits)
#define HIGH_PRODUCT(a, b) static_cast<uint>(ulong{a} * (b) >> 32)
#define HIGH_PRODUCT_LONG(a, b) static_cast<ulong>(static_cast<unsigned __int128>(a) * (b) >> 64)
#define PIN_FLOAT(value)
#define regular_quotient(a, b) ((a) / (b))

FUNCTION float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
FUNCTION double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
FUNCTION float fabs(float x) { return __builtin_fabsf(x); }
FUNCTION double fabs(double x) { return __builtin_fabs(x); }
FUNCTION float trunc(float x) { return __builtin_truncf(x); }
FUNCTION double trunc(double x) { return __builtin_trunc(x); }

#include "core/functions.clh"

// The angles below which small_sin, small_cos and small_tan are sin, cos and tan.
template <class real>
inline constexpr real small_angles = sizeof(real) == 4 ? SMALL_ANGLES_FLOAT : SMALL_ANGLES_DOUBLE;

#undef FUNCTION
#undef FUNCTION_SELDOM
#undef CONSTANT
#undef FLOAT_BITS
#undef BITS_FLOAT
#undef DOUBLE_BITS
#undef BITS_DOUBLE
#undef HIGH_PRODUCT
#undef HIGH_PRODUCT_LONG
#undef PIN_FLOAT
#undef regular_quotient
#undef FLOAT_WHOLE
#undef DOUBLE_WHOLE
#undef SMALL_ANGLES_FLOAT
#undef SMALL_ANGLES_DOUBLE
#undef LN2_HIGH_FLOAT
#undef LN2_LOW_FLOAT
#undef LN2_HIGH
#undef LN2_LOW

}  // namespace impipe::functions
