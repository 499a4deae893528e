// WebP by libwebp: see CodecModule.
#pragma once

#include "io/module/library_codec.hpp"

namespace impipe::io {

HostImage decode_webp(InputBytes bytes, const ImageInfo& info, MakeImage make_image);
std::unique_ptr<PageDecoder> open_webp_pages(InputBytes bytes, MakeImage make_image);
Bytes encode_webp(const HostImage& image, const EncodeOptions& options);

}  // namespace impipe::io
