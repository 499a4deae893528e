// PNG by libpng, zlib and libdeflate: see CodecModule.
#pragma once

#include "io/module/library_codec.hpp"

namespace impipe::io {

HostImage decode_png(InputBytes bytes, const ImageInfo& info, MakeImage make_image);
Bytes encode_png(const HostImage& image, const EncodeOptions& options);
// See CodecModule::encode_packed.
Bytes encode_packed_png(const ImageType& type, Size size, PackedChunk stream, Bytes room);
std::string inflate_text(std::string_view packed, std::int64_t most);  // see CodecModule::inflate
std::string deflate_text(std::string_view text);

}  // namespace impipe::io
