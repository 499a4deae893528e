// Resampling as text.
#pragma once

#include "backends/jit/builder.hpp"

namespace impipe::jit {

// The function `name`(GIVE, x, y, c) of Resample node n, and the kernels that come before it: the
// weights of both directions, and the sums down the columns.
void write_resample(Builder& to, int n, const std::string& name);

}  // namespace impipe::jit
