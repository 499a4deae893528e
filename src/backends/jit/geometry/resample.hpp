// Resampling as text.
#pragma once

#include "backends/jit/plan/form.hpp"
#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// The function `name`(ARGS, x, y, c) of Resample node n, and the kernels that come before it, by
// launches for which `wanted` holds: of a resize the weights of both directions, and the sums down
// the columns.
void write_resample(Builder& builder, int n, const std::string& name, LaunchTest wanted = nullptr);
void write_resize(Builder& builder, int n, const std::string& name, LaunchTest wanted);

// The function of a map whose places are not two fma each.
void write_map(Builder& builder, int n, const std::string& name);

// Text that makes floats v[4] of the four pixels at `line`.
std::string four_loaded(PixelClass cls);

}  // namespace impipe::jit
