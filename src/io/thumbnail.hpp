// Thumbnails in metadata: small JPEGs that show the picture they lie in.
#pragma once

#include <string>
#include <string_view>

#include "core/image.hpp"

namespace impipe::io {

// What a JPEG's frame header says; 0x0 when there is none.
Size jpeg_size(std::string_view jpeg);

// The image as a JPEG whose longer side has so many pixels, or its own where that is less. Of so
// many bytes at most, where a low quality is enough for that.
std::string thumbnail_of(const HostImage& image, int side, size_t most_bytes);

}  // namespace impipe::io
