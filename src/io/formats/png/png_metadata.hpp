// Metadata in the chunks of a PNG.
#pragma once

#include "io/formats/format_traits.hpp"

namespace impipe::io {

struct PngText {
  std::string keyword, text;
  bool plain = true;  // no language, no translated keyword
  bool packed = false;
};
// The keyword and text of a tEXt, zTXt or iTXt chunk; no keyword when it is damaged. Of a text of
// more than `most` bytes the first most + 1.
PngText png_text(std::string_view kind, std::string_view data, std::uint64_t most);

MetadataRead read_png_metadata(const MetadataInput& input);
Bytes with_png_metadata(Bytes file, const Metadata& metadata, const PictureOfFile& picture,
                        Lost& lost);

}  // namespace impipe::io
