// How many bytes a plane takes in memory: rows are padded, and an image of a few columns has more
// padding than pixels.
#pragma once

#include "core/image.hpp"

namespace impipe {

// Bytes from one row to the next of a plane in host memory: a multiple of 64, or for shorter rows
// just theirs, so that a thin image takes no more than its pixels and its rows can be read as one.
std::int64_t plane_stride(std::int64_t row_bytes);

}  // namespace impipe
