// Metadata in the boxes of a JPEG 2000 file.
#pragma once

#include <span>

#include "io/bytes/byte_source.hpp"
#include "io/metadata/file_metadata.hpp"

namespace impipe::io {

MetadataRead read_jp2_metadata(std::span<const std::byte> file);
Bytes with_jp2_metadata(const Bytes& file, const Metadata& metadata, Lost& lost);
int jp2_orientation(const ByteSource& source);  // as EXIF or XMP say, else 1

}  // namespace impipe::io
