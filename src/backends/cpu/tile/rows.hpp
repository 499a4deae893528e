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

// Of results that are as many bytes as this the first are no longer in a cache when the last are
// made.
inline constexpr std::int64_t kept_in_caches = 16 << 20;
// Copies bytes past the caches, which then need not read what they will write over: for results
// that the caches do not keep. end_streams comes before other threads read them.
void stream_row(std::byte* out, const std::byte* in, std::int64_t bytes, CpuLevel level);
void end_streams();

// n values, each the code of a pixel of this class.
void fill_elements(std::byte* out, PixelClass cls, double value, std::int64_t n);

// Whether a pixel of this class can have this value.
bool is_code(double value, PixelClass cls);

}  // namespace impipe::cpu
