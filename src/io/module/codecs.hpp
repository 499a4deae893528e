// One pair of functions for each format that the codec module knows.
#pragma once

#include "io/bytes/byte_source.hpp"
#include "io/module/codec_module.hpp"

namespace impipe::io {

using InputBytes = std::span<const std::byte>;

// The module links nothing of core; hence its own "640x480".
inline std::string text_of(Size size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}
// The library's own idea of the header must be ours: the planes were made from ours.
inline void check_header(bool agrees, const char* format) {
  if (!agrees) fail(std::string("damaged ") + format + ": contradictory headers");
}

HostImage decode_png(InputBytes bytes, const ImageInfo& info, MakeImage make_image);
HostImage decode_jpeg(InputBytes bytes, const ImageInfo& info, MakeImage make_image);
HostImage decode_tiff(InputBytes bytes, const ImageInfo& info, MakeImage make_image);
HostImage decode_webp(InputBytes bytes, const ImageInfo& info, MakeImage make_image);
std::unique_ptr<PageDecoder> open_webp_pages(InputBytes bytes, MakeImage make_image);

Bytes encode_png(const HostImage& image, const EncodeOptions& options);
std::string inflate_text(std::string_view packed, std::int64_t most);  // see CodecModule::inflate
std::string deflate_text(std::string_view text);
Bytes encode_jpeg(const HostImage& image, const EncodeOptions& options);
std::unique_ptr<PictureRows> open_jpeg_rows(InputBytes bytes, const ImageInfo& info,
                                            MakeImage make_image);
std::unique_ptr<PictureSink> make_jpeg_rows(const ImageType& type, Size size,
                                            const EncodeOptions& options);
Bytes encode_tiff(const HostImage& image, const EncodeOptions& options);
std::unique_ptr<PictureRows> open_tiff_rows(int file, std::int64_t bytes, const ImageInfo& info,
                                            MakeImage make_image);
std::unique_ptr<PictureSink> make_tiff_rows(int file, const ImageType& type, Size size, Size tile,
                                            const EncodeOptions& options);
Bytes encode_webp(const HostImage& image, const EncodeOptions& options);

}  // namespace impipe::io
