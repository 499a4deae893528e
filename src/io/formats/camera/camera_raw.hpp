// Camera raw that is a TIFF: what tells it from pictures, whether it is whole, and what it
// says of the photograph.
#pragma once

#include "io/bytes/byte_source.hpp"
#include "io/picture/metadata.hpp"

namespace impipe::io {

// Whether one of the directories of a TIFF has a sensor's values instead of colours.
bool is_camera_raw(const ByteSource& source);

// Throws Error where strips or tiles of a DNG lie outside the file, or are fewer than its picture
// has: LibRaw makes black of them.
void check_dng(const ByteSource& source);

// EXIF of what is a TIFF, upright as LibRaw turns the picture; else it is named as lost.
MetadataRead read_camera_metadata(std::span<const std::byte> file);

}  // namespace impipe::io
