// Row passes of few taps, straight from bytes or floats.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/body.hpp"
#include "core/image.hpp"

namespace impipe::cpu {

// Whether short_row_sum does this: rows of n elements of this class.
bool has_short_row_sum(PixelClass cls, int taps, std::int64_t n, CpuLevel level);

// out[i] = fma over the taps from the left into 0: weights[t] * in[i + t]. May read up to 64 bytes
// past the last value.
void short_row_sum(float* out, const std::byte* in, PixelClass cls, const float* weights, int taps,
                   std::int64_t n, CpuLevel level);

}  // namespace impipe::cpu
