// JPEG by libjpeg: see CodecModule.
#pragma once

#include "io/module/library_codec.hpp"

namespace impipe::io {

HostImage decode_jpeg(InputBytes bytes, const ImageInfo& info, MakeImage make_image);
Bytes encode_jpeg(const HostImage& image, const EncodeOptions& options);
std::unique_ptr<PictureRows> open_jpeg_rows(InputBytes bytes, const ImageInfo& info,
                                            MakeImage make_image);
std::unique_ptr<PictureSink> make_jpeg_rows(const ImageType& type, Size size,
                                            const EncodeOptions& options);

}  // namespace impipe::io
