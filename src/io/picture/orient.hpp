// Turns and mirrors an image as its EXIF orientation asks.
#pragma once

#include "core/affine_place.hpp"
#include "core/image.hpp"

namespace impipe::io {

// `orientation`: 1 to 8, as EXIF numbers them; 1 hands the image on.
HostImage orient(HostImage image, int orientation);
// The place in the stored image of each pixel of the upright one, which has this size.
AffinePlace oriented_place(int orientation, Size upright);

}  // namespace impipe::io
