// Metadata in the chunks of a PNG.
#pragma once

#include <string_view>

#include "io/metadata/file_metadata.hpp"

namespace impipe::io {

MetadataRead read_png_metadata(std::string_view file);
Bytes with_png_metadata(const Bytes& file, const Metadata& metadata, Lost& lost);

}  // namespace impipe::io
