// The text of each primitive: a function that gives one pixel, or the kernels of a measurement.
#pragma once

#include "backends/jit/builder.hpp"

namespace impipe::jit {

// The function `name`(GIVE, x, y, c): node n's pixel, in its class.
void write_point(Builder& to, int n, const std::string& name);
void write_permute(Builder& to, int n, const std::string& name);
void write_stencil(Builder& to, int n, const std::string& name);
void write_separable(Builder& to, int n, const std::string& name);
void write_extremum(Builder& to, int n, const std::string& name);
void write_rank(Builder& to, int n, const std::string& name);

// The kernels that make node n's measurement.
void write_reduce(Builder& to, int n);
void write_histogram(Builder& to, int n);
void write_select(Builder& to, int n);
void write_scalar(Builder& to, int n);

// "uint8_from_float(v)": `value`, a `real`, as a pixel of the class.
std::string converted(PixelClass cls, const std::string& real, const std::string& value);

// Reads `image` outside too: a function `name`(GIVE, x, y, c) of type `type`. `outside`: the value
// there, for Border::constant and absent. `wide`: places may lie outside to the left and right;
// `tall`: above and below.
void write_border(Builder& to, const std::string& name, const std::string& type,
                  const std::string& value, Border border, const std::string& outside,
                  const std::string& width, const std::string& height, bool wide = true,
                  bool tall = true);

// Text that runs `step` for each set cell of the mask in row-major order, with dx, dy (offsets)
// and k (which cell) defined.
std::string for_each_cell(const Mask& mask, const std::string& step);

// The header of a value function.
std::string value_header(const std::string& type, const std::string& name);

}  // namespace impipe::jit
