// Parts of kernels that make a row of pixels from a window in registers. Where they stand, r is the
// row of the block.
#pragma once

#include <string>

#include "backends/jit/text/builder.hpp"
#include "backends/jit/text/emit.hpp"

namespace impipe::jit {

// A neighbourhood of a block: [rows][width], whose element `first` is the block's first.
struct Window {
  std::string array;
  int rows = 0, width = 0, first = 0;
  // Text of the place of pixel i's neighbour, where the window begins `up` rows above the block.
  std::string place(int dx, int dy, int up) const;
};

// A row of pixels: the text that makes its array, and, where they are there too, its bytes as
// words.
struct Row {
  std::string text, words = {};
};

// The array NAME [count] in class `cls`, of the floats `value` of k.
Row row_of_floats(const Builder& builder, const std::string& name, PixelClass cls, int count,
                  const std::string& value);
// The same of `value`, a pixel of that class. names_column: it names x.
Row row_of_pixels(const Builder& builder, const std::string& name, PixelClass cls, int count,
                  const std::string& value, bool names_column = false);
// The same of `px` sums of the window's pixels under the mask, whose text is `weighted_taps`.
Row weighted_row(const Builder& builder, const std::string& name, int px, const Window& w,
                 const Mask& mask, const std::string& weight, PixelClass cls);
std::string weighted_taps(const Window& w, const Mask& mask, const std::string& weight);
// The same of what the body or expression of stencil node n makes of the window.
Row body_row(Builder& builder, const std::string& name, int px, const Window& w, int n);

// Whether a point reads the place of its pixel.
bool names_place(const Node& node);
// Point node n's pixel for `code`, that of its source.
std::string code_value(Builder& builder, int n, const Operand& source);
// A loop over `count` pixels k, which are also i.
std::string for_each_pixel(const Builder& builder, int count, const std::string& step);

// `vector`.x = `value`(0), and so on for y, z and w.
template <typename Value>
std::string four_elements(const std::string& vector, const Value& value) {
  std::string text;
  for (int k = 0; k < 4; ++k) text += assigned(vector + "." + "xyzw"[k], value(k));
  return text;
}

}  // namespace impipe::jit
