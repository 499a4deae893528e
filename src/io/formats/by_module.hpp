// Formats that a codec module reads and writes: what their rows have in common.
#pragma once

#include "io/formats/format_traits.hpp"
#include "io/module/module.hpp"

namespace impipe::io {

// What the library says of a header that it alone reads.
ImageInfo header_by_module(Format format, const HeaderInput& input);
void decode_by_module(const DecodeInput& input, Decoded& out);
// An image as the module of the format encodes it.
Bytes encoded_by_module(const HostImage& image, Format format, const EncodeOptions& options);
// Of a module that puts the metadata into the file itself.
void encode_with_metadata(HostImage& image, const EncodeInput& input, Encoded& out);
// What the library found, made to fit an image whose orientation is already applied.
MetadataRead metadata_by_module(std::span<const std::byte> file, const ImageInfo& info,
                                std::span<const int> pages_together);

// How integers of 16 bits are stored in AVIF and HEIF: as 12 bits, or 10 where the input had 10.
// Names the bits that are lost; throws Error where none may be.
void set_wide_bits(EncodeOptions& stored, const HostImage& image, const EncodeInput& input,
                   std::vector<std::string>& lost);

}  // namespace impipe::io
