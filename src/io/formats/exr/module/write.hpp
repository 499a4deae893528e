// Writes an image as an EXR of one part.
#pragma once

#include "io/module/codec_module.hpp"

namespace impipe::io {

// Colours are multiplied by alpha already. Throws what OpenEXR throws.
Bytes write_exr(const HostImage& image, const EncodeOptions& options, ForEach for_each);

// See CodecModule::encode_packed.
Bytes write_packed_exr(const ImageType& type, Size size, std::span<const PackedChunk> chunks,
                       const EncodeOptions& options, Bytes room);

}  // namespace impipe::io
