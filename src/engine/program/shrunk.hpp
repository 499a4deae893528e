// Pictures that are read at 1/2, 1/4 or 1/8 of their size for a pipeline that begins with a larger
// reduction (--shrink-on-load).
#pragma once

#include "core/plan.hpp"
#include "io/codec.hpp"

namespace impipe::engine {

// How a picture was read: `by` pixels of each side of `full` as one.
struct Shrunk {
  Size full;
  int by = 1;
};

// Whether a lowered plan reads its input for nothing but a reduction whose weights reach over all
// pixels.
bool begins_with_reduction(const Plan& lowered);

// How many pixels of each side of a picture may be read as one for this plan: 1, 2, 4 or 8. The
// resize still has to halve the sides at least, so that it decides how the result looks.
int shrink_for(const Plan& lowered, const io::ImageInfo& info);

// The plan with kernels that any scale fits: the scale of what was read is not the one in the text.
Plan for_any_scale(Plan lowered);

// The arguments of a resize of what was read: the size of the result and the places of its pixels
// are those that a resize of the whole picture gives.
void set_arguments(Node& resize, const Shrunk& read);

}  // namespace impipe::engine
