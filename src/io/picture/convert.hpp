// Images in another class of pixels.
#pragma once

#include "core/image.hpp"

namespace impipe::io {

// Converts by the rules of im2uint8, im2uint16 and im2single, relative to white: white goes to the
// white of the class. To logical: whatever is not 0 is true. Adds to `clipped` the values that were
// saturated. Alpha, of whatever class it was read in, goes to the full range of the class.
HostImage convert(const HostImage& image, PixelClass cls, std::int64_t* clipped = nullptr);

}  // namespace impipe::io
