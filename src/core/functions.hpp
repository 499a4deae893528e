// exp, log, pow and cube_root of single numbers as the CPU computes them: without branches, tables
// or calls, so that compilers vectorise the loops of bodies that use them. Within a unit in the
// last place of exp, log and cube_root, and half of one, or hardly more, of pow. Every instruction
// set gives the same bits, and GPUs compute cube_root alike (backends/jit/kernels/common.clh).
#pragma once

#include <cstdint>

namespace impipe::functions {

#define IMPIPE_FUNCTION inline __attribute__((always_inline))

IMPIPE_FUNCTION float bits_as_float(std::int32_t bits) { return __builtin_bit_cast(float, bits); }
IMPIPE_FUNCTION std::int32_t bits_of(float x) { return __builtin_bit_cast(std::int32_t, x); }

// Added to a number up to 2^22, its sum ends in the nearest whole number.
inline constexpr float float_whole = 12582912.0f;           // 1.5 2^23
inline constexpr double double_whole = 6755399441055744.0;  // 1.5 2^52
inline constexpr float infinite = __builtin_inff();

inline constexpr float log2_e = 1.44269504f;
inline constexpr float ln2_high = 0.693359375f;          // few bits: its whole multiples are exact
inline constexpr float ln2_low = -2.12194440e-4f;        // what is missing
inline constexpr float exp_least = -104, exp_most = 89;  // 0 below, infinite above

IMPIPE_FUNCTION float exp(float x) {
  const float low = x < exp_least ? exp_least : x;
  const float v = low > exp_most ? exp_most : low;
  const float shifted = __builtin_fmaf(v, log2_e, float_whole);
  const float whole = shifted - float_whole;
  const float r = __builtin_fmaf(whole, -ln2_low, __builtin_fmaf(whole, -ln2_high, v));
  float sum = __builtin_fmaf(0.001381454f, r, 0.00836874511f);
  sum = __builtin_fmaf(sum, r, 0.0416683908f);
  sum = __builtin_fmaf(sum, r, 0.166665204f);
  sum = __builtin_fmaf(sum, r, 0.499999934f);
  sum = __builtin_fmaf(sum, r, 1.0f);
  sum = __builtin_fmaf(sum, r, 1.0f);
  // Times 2^whole in two steps, as the first of them alone may be no number.
  const std::int32_t power = bits_of(shifted) - bits_of(float_whole);
  const std::int32_t half = power >> 1;
  return sum * bits_as_float((half + 127) << 23) * bits_as_float((power - half + 127) << 23);
}

// x = m 2^e with m from sqrt(1/2) to sqrt(2), for x > 0.
struct Scaled {
  float m, e;
};
IMPIPE_FUNCTION Scaled scaled(float x) {
  constexpr float least = 1.17549435e-38f;
  const bool tiny = x < least;
  const std::int32_t bits = bits_of(tiny ? x * 8388608.0f : x);
  // Without signs, as the bits of an x below 0, whose result nobody takes, may go beyond them.
  const auto from_root =
      static_cast<std::uint32_t>(bits) - static_cast<std::uint32_t>(bits_of(0.70710678f));
  const std::int32_t e = static_cast<std::int32_t>(from_root) >> 23;
  const auto scaled_bits = static_cast<std::uint32_t>(bits) - (static_cast<std::uint32_t>(e) << 23);
  return {bits_as_float(static_cast<std::int32_t>(scaled_bits)),
          static_cast<float>(tiny ? e - 23 : e)};
}

IMPIPE_FUNCTION float log(float x) {
  const Scaled part = scaled(x);
  const float f = part.m - 1.0f;
  float sum = __builtin_fmaf(-0.0785961643f, f, 0.128816494f);
  sum = __builtin_fmaf(sum, f, -0.131287538f);
  sum = __builtin_fmaf(sum, f, 0.141811916f);
  sum = __builtin_fmaf(sum, f, -0.166245541f);
  sum = __builtin_fmaf(sum, f, 0.200022863f);
  sum = __builtin_fmaf(sum, f, -0.250008104f);
  sum = __builtin_fmaf(sum, f, 0.333333167f);
  const float square = f * f;
  // The smallest parts first.
  const float small = __builtin_fmaf(part.e, ln2_low, square * f * sum);
  const float result = __builtin_fmaf(part.e, ln2_high, f + __builtin_fmaf(square, -0.5f, small));
  const float positive = x == infinite ? x : result;
  const float of_sign = x > 0.0f ? positive : __builtin_nanf("");
  return x == 0.0f ? -infinite : of_sign;
}

// |x|^y for x that is not 0, in double.
IMPIPE_FUNCTION float power_of_size(float x, float y) {
  const Scaled part = scaled(x);
  const double m = part.m;
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double sum = __builtin_fma(0.34075932239991413, z, 0.41167113630256885);
  sum = __builtin_fma(sum, z, 0.57708361156126475);
  sum = __builtin_fma(sum, z, 0.96179667320016315);
  sum = __builtin_fma(sum, z, 2.8853900817902014);
  const double log2_x = __builtin_fma(s, sum, static_cast<double>(part.e));
  const double all = static_cast<double>(y) * log2_x;
  const double low = all < -200.0 ? -200.0 : all;
  const double v = low > 200.0 ? 200.0 : low;
  const double shifted = v + double_whole;
  const double r = v - (shifted - double_whole);
  double p = __builtin_fma(1.5201820872801845e-05, r, 0.00015469422116722704);
  p = __builtin_fma(p, r, 0.0013333924017753915);
  p = __builtin_fma(p, r, 0.0096180268483743812);
  p = __builtin_fma(p, r, 0.055504103503733769);
  p = __builtin_fma(p, r, 0.24022651201151288);
  p = __builtin_fma(p, r, 0.69314718072979575);
  p = __builtin_fma(p, r, 0.99999999996137967);
  const std::int64_t bits = __builtin_bit_cast(std::int64_t, shifted) << 52;
  return static_cast<float>(__builtin_bit_cast(double, __builtin_bit_cast(std::int64_t, p) + bits));
}

// As C's pow has it: 1 for y = 0 and for x = 1, NaN for x < 0 unless y is whole. What depends on y
// alone is kept as numbers: g++ 12 vectorises no loop that joins truths of its vectors with others.
IMPIPE_FUNCTION float pow(float x, float y) {
  const float size = __builtin_fabsf(x);
  const float of_zero = y < 0.0f ? infinite : 0.0f;
  const float of_infinite = y < 0.0f ? 0.0f : infinite;
  const float half = y * 0.5f;
  const std::int32_t sign_bit = bits_of(-0.0f);
  const std::int32_t odd_sign = __builtin_truncf(half) != half ? sign_bit : 0;
  const bool whole = __builtin_truncf(y) == y;
  const std::int32_t sign_kept = whole ? odd_sign : 0;
  const float of_negative = whole ? 0.0f : __builtin_nanf("");
  const float of_nan = y == 0.0f ? 1.0f : __builtin_nanf("");

  float result = power_of_size(size, y);
  result = size == 1.0f ? 1.0f : result;
  result = result + (x < 0.0f ? of_negative : 0.0f);
  result = size == 0.0f ? of_zero : result;
  result = size == infinite ? of_infinite : result;
  result = bits_as_float(bits_of(result) | (bits_of(x) & sign_kept));
  result = y == y ? result : of_nan;
  result = x == x ? result : of_nan;
  result = y == 0.0f ? 1.0f : result;
  return x == 1.0f ? 1.0f : result;
}

// Of infinity and of normal numbers above 0. y is near x^(-1/3): its bits begin with a third of x's
// exponent, a parabola makes it 15 bits, and what is missing from x y^3 = 1 corrects x y^2.
IMPIPE_FUNCTION float cube_root(float x) {
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x);
  const auto third = static_cast<std::uint32_t>(std::uint64_t{bits} * 0x55555556u >> 32);
  const float seed = __builtin_bit_cast(float, 0x548e4000u - third);
  const float cube = x * seed * (seed * seed);
  const float p =
      __builtin_fmaf(cube, __builtin_fmaf(cube, 0.46726536f, -1.19075005f), 1.73084233f);
  const float y = seed * p;
  const float root = x * y * y;
  const float missing = __builtin_fmaf(-root, y, 1.0f);
  const float result = __builtin_fmaf(root * missing, 0.6666667f, root);
  return x < infinite ? result : x;
}

#undef IMPIPE_FUNCTION

}  // namespace impipe::functions
