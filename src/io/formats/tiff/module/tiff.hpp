// TIFF by libtiff: see CodecModule.
#pragma once

#include "io/module/library_codec.hpp"

namespace impipe::io {

HostImage decode_tiff(InputBytes bytes, const ImageInfo& info, MakeImage make_image);
Bytes encode_tiff(const HostImage& image, const EncodeOptions& options);
// See CodecModule::scan and CodecModule::encode_packed.
std::optional<PackedPicture> scan_tiff(InputBytes bytes, const ImageInfo& info);
Bytes encode_packed_tiff(const ImageType& type, Size size, std::span<const PackedChunk> chunks,
                         const EncodeOptions& options, Bytes room);
std::unique_ptr<PictureRows> open_tiff_rows(int file, std::int64_t bytes, const ImageInfo& info,
                                            MakeImage make_image);
std::unique_ptr<PictureSink> make_tiff_rows(int file, const ImageType& type, Size size, Size tile,
                                            const EncodeOptions& options);

}  // namespace impipe::io
