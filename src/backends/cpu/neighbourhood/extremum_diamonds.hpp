// Extrema under small diamonds, in vectors.
#pragma once

#include <cstdint>

#include "core/body.hpp"

namespace impipe::cpu {

// rows: 2 radius + 1 of them, at the first pixel under the mask. n: a multiple of diamond_pixels;
// as many more than that are read. NaN is ignored, -0 becomes 0; nothing: what is never better.
template <class T>
using DiamondKernel = void (*)(T* out, const T* const* rows, std::int64_t n, T nothing);

// Pixels of a vector; 0: the level has no vectors.
template <class T>
std::int64_t diamond_pixels(CpuLevel level);
// radius: 1 or 2.
template <class T>
DiamondKernel<T> diamond_kernel(int radius, bool largest, CpuLevel level);

}  // namespace impipe::cpu
