// Which points are expensive functions of a 16-bit pixel and of values known before the launch:
// they become a lookup table of 65,536 entries (pixel/code_curve.cl).
#pragma once

#include "backends/jit/program/kernel_context.hpp"

namespace impipe::jit {

constexpr int codes_of_16_bits = 65536;

// Whether point node n is computed in double, by a power, a logarithm or the like, of one image of
// 16-bit codes.
bool is_curve_of_codes(const KernelContext& of, int n);
// Whether a curve is the same for all planes of a stack: none of its numbers was measured.
bool is_same_for_planes(const KernelContext& of, int n);

}  // namespace impipe::jit
