// What every part of the program asks about a primitive, answered once. Each answer is a visit over
// all primitives, so that a new one does not compile before it has given them.
#pragma once

#include <string_view>

#include "core/kernel_spec.hpp"

namespace impipe {

struct PrimitiveFacts {
  std::string_view name;
  // Reads and makes its image, or measures it, as a whole: never shares a kernel with another node.
  bool stands_alone = false;
  // Makes its image of another as a whole, which no row or pixel of it can be made without.
  bool whole_image = false;
  // Measures an image.
  bool measures = false;
  // A pixel of the result may come from another place than its own.
  bool moves = false;
  // A neighbourhood: an output pixel takes several pixels of the input.
  bool reads_around = false;
  // Of neighbourhoods: how far they read around the pixel, what they read outside the image, and
  // the input place that lies under output (0, 0) (full and valid convolution; 0 for all others).
  // Border: of Window too.
  Footprint footprint;
  Border border = Border::constant;
  int shift_x = 0, shift_y = 0;
};
PrimitiveFacts facts_of(const Primitive& primitive);
inline PrimitiveFacts facts_of(const Node& node) { return facts_of(node.primitive); }

std::string_view name_of(const Primitive& primitive);
bool stands_alone(const Primitive& primitive);

// The size of a node's result, given the size of its first image.
Size result_size(const Node& node, Size input);

// The value of an argument that is not measured; size: of the node's first image. Where a
// measurement decides, argument.value.
double value_of(const Argument& argument, Size size);

}  // namespace impipe
