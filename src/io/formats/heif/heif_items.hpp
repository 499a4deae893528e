// What a HEIF or AVIF file holds beside the pictures that are read from it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes/byte_source.hpp"
#include "io/picture/format.hpp"

namespace impipe::io {

// AVIF or HEIF, by the brands at the beginning of a file of ISO's base media format.
std::optional<Format> format_of_brand(std::string_view head);

// Names of auxiliary images, thumbnails, further pictures and metadata that no reader of ours
// takes: "a depth map". Looks at the items' table alone. All that is damaged in it is passed over:
// the picture's library has read it, or has failed with a reason.
std::vector<std::string> unread_items(const ByteSource& source, Format format);

// Throws Error where a grid or an overlay is made of itself, or of so many pieces that decoding
// them would have no end: decoders start a thread for each.
void check_pieces(const ByteSource& source);

// Throws Error where a stream is much larger than any picture in the file, which decoders would
// take the memory for, or smaller than its own.
void check_coded_sizes(const ByteSource& source);

// Whether an item says that it is to be turned by 90 or 270 degrees before it says its size, as
// cameras have it: libheif then tells the size that it has before.
bool turned_before_its_size(const ByteSource& source, std::uint64_t item);

// Whether an item's stream, or those of its pieces, have one channel.
bool is_gray(const ByteSource& source, std::uint64_t item);

}  // namespace impipe::io
