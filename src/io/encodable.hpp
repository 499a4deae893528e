// What a format refuses to hold, as far as it is known before there are pixels.
#pragma once

#include "io/codec.hpp"

namespace impipe::io {

// Throws Error where `encode` would for images of this type and size, whatever their pixels are.
// named: the image has the channels of an EXR, each with its name.
void check_encodable(const ImageType& type, Size size, bool named, Format format, PixelClass cls,
                     const EncodeOptions& options);

}  // namespace impipe::io
