// Which points sum several images of bytes.
#pragma once

#include "backends/jit/program/kernel_context.hpp"

namespace impipe::jit {

// Whether point n sums several images of bytes, by weights of a launch, which whole numbers hold,
// and is not the only one of its kernel: memory bounds one sum, not its arithmetic.
bool is_sum_of_bytes(const KernelContext& of, int n);

}  // namespace impipe::jit
