// Metadata in the chunks of a WebP.
#pragma once

#include <string_view>

#include "io/metadata/file_metadata.hpp"

namespace impipe::io {

MetadataRead read_webp_metadata(std::string_view file);
Bytes with_webp_metadata(const Bytes& file, const Metadata& metadata, const HostImage& image,
                         Lost& lost);

}  // namespace impipe::io
