// Rows of pixels as rows of numbers, and back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/body.hpp"
#include "core/image.hpp"

namespace impipe::cpu {

// real is float or double. n counts elements.
template <class real>
void load_row(real* out, const std::byte* in, PixelClass cls, std::int64_t n, CpuLevel level);

// Integer classes: rounded half away from zero and saturated, NaN is 0; logical: value != 0;
// single: converted.
template <class real>
void store_row(std::byte* out, const real* in, PixelClass cls, std::int64_t n, CpuLevel level);

// Interleaved pixels of three channels as three rows of n numbers, and back (numbers only).
template <class real>
void split_row(real* const* out, const std::byte* in, PixelClass cls, std::int64_t n,
               CpuLevel level);
template <class real>
void merge_row(real* out, const real* const* in, std::int64_t n, CpuLevel level);

// out[i] = in[i * step]
void gather_row(double* out, const double* in, std::int64_t step, std::int64_t n);

// n values, each the code of a pixel of this class.
void fill_elements(std::byte* out, PixelClass cls, double value, std::int64_t n);

}  // namespace impipe::cpu
