// Resampling as text.
#pragma once

#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// The function `name`(ARGS, x, y, c) of Resample node n, and the kernels that come before it, by
// launches for which `wanted` holds: of a resize the weights of both directions, and the sums down
// the columns.
void write_resample(Builder& to, int n, const std::string& name, LaunchTest wanted = nullptr);
void write_resize(Builder& to, int n, const std::string& name, LaunchTest wanted);

// The function of a map whose places are not two fma each.
void write_map(Builder& to, int n, const std::string& name);

// The kernel that stores an affine map.
void write_affine_tiles(Builder& to, int n);

// The kernels that store a resize that moves pixels only.
void write_nearest_resize(Builder& to, int n);

// The kernel that stores a resize by a ratio of whole numbers.
void write_whole_resize(Builder& to, int n);
// Text that makes floats v[4] of the four pixels at `line`.
std::string four_loaded(PixelClass cls);

// The kernels that store a resize whose groups make a tile of the result each, by launches for
// which the test that is returned holds: a tile's columns fit local memory. It holds for all when
// it is empty.
LaunchTest write_resize_tiles(Builder& to, int n);

}  // namespace impipe::jit
