// Metadata in the segments of a JPEG.
#pragma once

#include <string_view>

#include "io/metadata/file_metadata.hpp"

namespace impipe::io {

MetadataRead read_jpeg_metadata(std::string_view file);
Bytes with_jpeg_metadata(const Bytes& file, const Metadata& metadata, Lost& lost);

}  // namespace impipe::io
