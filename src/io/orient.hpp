// Turns and mirrors an image as its EXIF orientation asks.
#pragma once

#include "core/image.hpp"

namespace impipe::io {

// `orientation`: 1 to 8, as EXIF numbers them; 1 hands the image on.
HostImage orient(HostImage image, int orientation);

}  // namespace impipe::io
