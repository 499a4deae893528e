// Metadata in the chunks of a PNG.
#pragma once

#include "io/formats/format_traits.hpp"

namespace impipe::io {

MetadataRead read_png_metadata(const MetadataInput& input);
Bytes with_png_metadata(Bytes file, const Metadata& metadata, const PictureOfFile& picture,
                        Lost& lost);

}  // namespace impipe::io
