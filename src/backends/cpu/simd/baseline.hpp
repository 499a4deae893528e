// The vocabulary of vector kernels for every processor: a vector is one number. v3.hpp and v4.hpp
// have the same names; simd/each_level.inc compiles a family of kernels with each of them.
#pragma once

#include <cstdint>

#include "core/body.hpp"

namespace impipe::cpu::simd::baseline {

// Vectors of `lanes` numbers. `row_vectors`: how many of them fill the registers as sums of one
// row, where four rows are summed at a time.
using Floats = float;
using Ints = std::int32_t;
inline constexpr int lanes = 1, row_vectors = 2;

IMPIPE_INLINE Floats load(const float* p) { return *p; }
// Codes as numbers.
IMPIPE_INLINE Floats load(const std::uint8_t* p) { return *p; }
IMPIPE_INLINE Floats load(const std::uint16_t* p) { return *p; }
IMPIPE_INLINE void store(float* p, Floats v) { *p = v; }
IMPIPE_INLINE Floats set(float x) { return x; }
IMPIPE_INLINE Floats add(Floats a, Floats b) { return a + b; }
IMPIPE_INLINE Floats subtract(Floats a, Floats b) { return a - b; }
IMPIPE_INLINE Floats multiply(Floats a, Floats b) { return a * b; }
IMPIPE_INLINE Floats square_root(Floats v) { return __builtin_sqrtf(v); }
// a b + c, rounded once.
IMPIPE_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return __builtin_fmaf(a, b, c); }
// c - a b, rounded once.
IMPIPE_INLINE Floats negative_multiply_add(Floats a, Floats b, Floats c) {
  return __builtin_fmaf(-a, b, c);
}
// The second where one of them is NaN.
IMPIPE_INLINE Floats larger(Floats a, Floats b) { return a > b ? a : b; }
IMPIPE_INLINE Floats smaller(Floats a, Floats b) { return a < b ? a : b; }
// Element places[i] of v for each element i; of two or four vectors behind each other.
IMPIPE_INLINE Floats permuted(Floats v, const std::int32_t*) { return v; }
IMPIPE_INLINE Floats permuted(Floats a, Floats b, const std::int32_t* places) {
  return places[0] == 0 ? a : b;
}
IMPIPE_INLINE Floats permuted(Floats a, Floats b, Floats c, Floats d, const std::int32_t* places) {
  return places[0] < 2 ? permuted(a, b, places) : places[0] == 2 ? c : d;
}
// v is in a register now, and not loaded again.
IMPIPE_INLINE void keep(Floats&) {}

// Eight floats, whatever the processor's vectors hold.
typedef float EightFloats __attribute__((vector_size(32)));
IMPIPE_INLINE EightFloats load_eight(const float* p) {
  EightFloats v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
IMPIPE_INLINE void store_eight(float* p, EightFloats v) { __builtin_memcpy(p, &v, sizeof v); }
IMPIPE_INLINE EightFloats multiply_add(EightFloats a, EightFloats b, EightFloats c) {
  for (int i = 0; i < 8; ++i) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return c;
}

}  // namespace impipe::cpu::simd::baseline
