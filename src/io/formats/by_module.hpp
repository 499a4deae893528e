// Formats that a codec module reads and writes: what their rows have in common.
#pragma once

#include "io/formats/format_traits.hpp"
#include "io/module/module.hpp"

namespace impipe::io {

// What the library says of a header that it alone reads.
ImageInfo header_by_module(const HeaderInput& input);
HostImage decode_by_module(const DecodeInput& input, Decoded& out);
// The page that `info` is of; `pages` as in DecodeOptions::open_pages.
HostImage page_by_module(std::string_view module, std::span<const std::byte> file,
                         const ImageInfo& info, OpenPages* pages);
HostImage rows_by_module(const RowsInput& input);
Bytes encode_by_module(HostImage& image, const EncodeInput& input, Encoded& out);
// The same with other options than those of the input.
Bytes encode_with_options(const HostImage& image, const EncodeInput& input,
                          const EncodeOptions& options);
// Of a module that puts the metadata into the file itself: these are the input's as they are true
// of the image.
Bytes encode_with_metadata(HostImage& image, const EncodeInput& input, Encoded& out);
// What the library found, made to fit an image whose orientation is already applied.
MetadataRead metadata_by_module(const MetadataInput& input);

}  // namespace impipe::io
