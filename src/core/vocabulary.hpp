// The vocabulary of bodies: the only functions a body may call, the same words in C++, CUDA C and
// OpenCL C. Ternaries instead of fmin, round and friends, because compilers vectorise the former
// and not the latter. docs/decisions/0001-one-body-every-backend.md has the numbers.
//
// One NaN is as good as another: which NaN (sign, payload) comes out is not promised, everything
// else is, bit for bit, on every backend.
#pragma once

#include <cstdint>

#include "core/functions.hpp"

#define IMPIPE_INLINE inline __attribute__((always_inline))

// clang-format off
// Words every dialect has as builtins: word, name of the builtin, number of arguments.
#define IMPIPE_BUILTIN_WORDS(word) \
  word(abs, fabs, 1)               \
  word(floor, floor, 1)            \
  word(ceil, ceil, 1)              \
  word(trunc, trunc, 1)            \
  word(sqrt, sqrt, 1)              \
  word(fma, fma, 3)
// Words of core/functions.clh: word, number of arguments. cube_root is of infinity and of normal
// numbers above 0 alone, exp2_below_0 of what its name says, and small_sin, small_cos and small_tan
// of angles below functions::small_angles.
#define IMPIPE_FUNCTION_WORDS(word) \
  word(pow, 2)                      \
  word(exp, 1)                      \
  word(exp2_below_0, 1)             \
  word(log, 1)                      \
  word(cube_root, 1)                \
  word(sin, 1)                      \
  word(cos, 1)                      \
  word(tan, 1)                      \
  word(small_sin, 1)                \
  word(small_cos, 1)                \
  word(small_tan, 1)                \
  word(atan2, 2)

// Words composed of those: name, number of parameters, their names, text. Each may call the ones
// above it.
//   min, max    the second argument unless the comparison holds: so for NaN, and of two zeros
//   clamp       NaN stays NaN
//   round_away  half away from zero, exact for every value (floor(x + 0.5) is not: it takes
//               0.49999997f to 1); NaN stays NaN, a zero result is +0
//   over        a / b, where b is the same for every pixel: GPUs find its reciprocal once
//   to_code     what a value becomes in an integer class with this largest code: NaN is 0
#define IMPIPE_COMPOSED_WORDS(word)                                 \
  word(min, 2, (a, b), { return a < b ? a : b; })                   \
  word(max, 2, (a, b), { return a > b ? a : b; })                   \
  word(clamp, 3, (x, low, high), {                                  \
    return x < low ? low : (x > high ? high : x);                   \
  })                                                                \
  word(round_away, 1, (x), {                                        \
    const real whole = trunc(x);                                    \
    const real rest = x - whole;                                    \
    const real up = rest >= real(0.5) ? real(1) : real(0);          \
    const real down = rest <= real(-0.5) ? real(1) : real(0);       \
    return whole + up - down;                                       \
  })                                                                \
  word(over, 2, (a, b), { return a / b; })                          \
  word(to_code, 2, (x, largest), {                                  \
    const real positive = x > real(0) ? x : real(0);                \
    return round_away(positive < largest ? positive : largest);     \
  })
// clang-format on

#define IMPIPE_CALL(macro, ...) macro(__VA_ARGS__)
#define IMPIPE_NAMES(...) __VA_ARGS__
#define IMPIPE_TYPED_1(type, a) (type a)
#define IMPIPE_TYPED_2(type, a, b) (type a, type b)
#define IMPIPE_TYPED_3(type, a, b, c) (type a, type b, type c)
#define IMPIPE_ARGUMENTS_1 a
#define IMPIPE_ARGUMENTS_2 a, b
#define IMPIPE_ARGUMENTS_3 a, b, c
#define IMPIPE_BUILTIN_WORD(name, builtin, count)         \
  IMPIPE_WORD(float, name, count, __builtin_##builtin##f) \
  IMPIPE_WORD(double, name, count, __builtin_##builtin)
#define IMPIPE_FUNCTION_WORD(name, count)                  \
  IMPIPE_WORD(float, name, count, functions::name##_float) \
  IMPIPE_WORD(double, name, count, functions::name##_double)
#define IMPIPE_WORD(type, name, count, function)                                              \
  IMPIPE_INLINE type name IMPIPE_CALL(IMPIPE_TYPED_##count, type, IMPIPE_ARGUMENTS_##count) { \
    return function(IMPIPE_ARGUMENTS_##count);                                                \
  }
#define IMPIPE_COMPOSED_WORD(name, count, names, ...)                                       \
  IMPIPE_INLINE float name IMPIPE_CALL(IMPIPE_TYPED_##count, float, IMPIPE_NAMES names) {   \
    using real [[maybe_unused]] = float;                                                    \
    __VA_ARGS__                                                                             \
  }                                                                                         \
  IMPIPE_INLINE double name IMPIPE_CALL(IMPIPE_TYPED_##count, double, IMPIPE_NAMES names) { \
    using real [[maybe_unused]] = double;                                                   \
    __VA_ARGS__                                                                             \
  }

// Bodies live in this namespace too, so that these words hide the C library's.
namespace impipe::bodies {
IMPIPE_BUILTIN_WORDS(IMPIPE_BUILTIN_WORD)
IMPIPE_FUNCTION_WORDS(IMPIPE_FUNCTION_WORD)
IMPIPE_COMPOSED_WORDS(IMPIPE_COMPOSED_WORD)
}  // namespace impipe::bodies

namespace impipe {

// The words once more, for the run-time compilers.
struct BuiltinWord {
  const char* name;
  const char* builtin;  // overloaded for float and double in OpenCL C and CUDA C
  int arguments;
};
struct ComposedWord {
  const char* name;
  const char* parameters;  // "(a, b)"
  const char* text;        // "{ return a < b ? a : b; }"
};
#define IMPIPE_BUILTIN_WORD_ROW(name, builtin, count) {#name, #builtin, count},
#define IMPIPE_COMPOSED_WORD_ROW(name, count, names, ...) {#name, #names, #__VA_ARGS__},
inline constexpr BuiltinWord builtin_words[] = {IMPIPE_BUILTIN_WORDS(IMPIPE_BUILTIN_WORD_ROW)};
inline constexpr ComposedWord composed_words[] = {IMPIPE_COMPOSED_WORDS(IMPIPE_COMPOSED_WORD_ROW)};
#undef IMPIPE_BUILTIN_WORD_ROW
#undef IMPIPE_COMPOSED_WORD_ROW

}  // namespace impipe
