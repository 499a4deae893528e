// Resampling as text.
#pragma once

#include "backends/jit/builder.hpp"

namespace impipe::jit {

// The function `name`(GIVE, x, y, c) of Resample node n, and the kernels that come before it, by
// launches for which `wanted` holds: of a resize the weights of both directions, and the sums down
// the columns.
void write_resample(Builder& to, int n, const std::string& name, LaunchTest wanted = nullptr);
void write_resize(Builder& to, int n, const std::string& name, LaunchTest wanted);

// Whether Resample node n is an affine map; and the kernel that stores it.
bool is_affine(const Builder& to, int n);
void write_affine_tiles(Builder& to, int n);

// Whether Resample node n moves pixels only; and the kernels that store it.
bool is_nearest_resize(const Builder& to, int n);
void write_nearest_resize(Builder& to, int n);

// Whether Resample node n is a resize whose groups make a tile of the result each.
bool fits_resize_tiles(const Builder& to, int n);
// The kernels that store it, by launches for which the test that is returned holds: a tile's
// columns fit local memory. It holds for all when it is empty.
LaunchTest write_resize_tiles(Builder& to, int n);

}  // namespace impipe::jit
