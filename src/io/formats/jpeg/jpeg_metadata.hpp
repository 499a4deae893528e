// The segments of a JPEG: metadata in them, and how its pixels are stored.
#pragma once

#include "io/formats/format_traits.hpp"

namespace impipe::io {

// Codes of markers.
inline constexpr int start_of_image = 0xd8, end_of_image = 0xd9, start_of_scan = 0xda, app0 = 0xe0,
                     app14 = 0xee, app15 = 0xef, comment = 0xfe;

inline int byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}
inline int word_at(std::string_view text, std::size_t at) {
  return byte_at(text, at) << 8 | byte_at(text, at + 1);
}

MetadataRead read_jpeg_metadata(const MetadataInput& input);
Bytes with_jpeg_metadata(Bytes file, const Metadata& metadata, const PictureOfFile& picture,
                         Lost& lost);

// Like that which the image was made from.
JpegStorage jpeg_storage_for(const Metadata& metadata, const EncodeOptions& options);

}  // namespace impipe::io
