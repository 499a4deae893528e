// Row passes of equal weights over whole numbers, at a cost that hardly grows with their length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/body.hpp"
#include "core/image.hpp"

namespace impipe::cpu {

// Whether whole_row_sum does this: weights of 1, whose sums float32 keeps exactly.
bool has_whole_row_sum(PixelClass cls, std::span<const float> weights, CpuLevel level);

// out[i] = in[i] + in[i + 1] + ... of `taps` codes of 16 bits, for i < n. Up to 16 results more are
// written, and up to 64 bytes read past the last value.
void whole_row_sum(float* out, const std::byte* in, int taps, std::int64_t n, CpuLevel level);

}  // namespace impipe::cpu
