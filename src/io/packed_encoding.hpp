// Pictures of lossless formats whose pixels a device packs.
#pragma once

#include <optional>
#include <span>

#include "core/packed_picture.hpp"
#include "io/codec.hpp"

namespace impipe::io {

// The form that an image is packed in that would be encoded so; nothing where no device packs such
// a format, or its pixels are needed on the host.
std::optional<PackedForm> packed_output(const ImageType& type, Size size, const Metadata& metadata,
                                        const OutputType& output, const EncodeOptions& options);

// What `encode` gives, of an image that packed_output knows, from the chunks that a device has made
// of it.
Encoded encode_packed(std::span<const PackedChunk> chunks, const ImageType& type, Size size,
                      const Metadata& metadata, const OutputType& output,
                      const EncodeOptions& options);

}  // namespace impipe::io
