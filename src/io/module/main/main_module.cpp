// The program's own codec module: hands each of its formats to a library.
#include "io/module/library_codec.hpp"

#include <cstring>

#include "io/formats/jpeg/module/jpeg.hpp"
#include "io/formats/nifti/module/nifti_gzip.hpp"
#include "io/formats/png/module/png.hpp"
#include "io/formats/png/module/png_direct.hpp"
#include "io/formats/tiff/module/tiff.hpp"
#include "io/formats/webp/module/webp.hpp"

namespace impipe::io {
namespace {

class Libraries final : public CodecModule {
 public:
  HostImage decode(InputBytes bytes, const ImageInfo& info, MakeImage make_image) const override {
    switch (info.format) {
      case Format::png: return decode_png(bytes, info, make_image);
      case Format::jpeg: return decode_jpeg(bytes, info, make_image);
      case Format::tiff: return decode_tiff(bytes, info, make_image);
      case Format::nifti: return open_nifti_pages(bytes, make_image)->decode(info);
      default: return decode_webp(bytes, info, make_image);
    }
  }
  std::unique_ptr<PageDecoder> open_pages(InputBytes bytes, const ImageInfo& info,
                                          MakeImage make_image) const override {
    if (info.format == Format::nifti) return open_nifti_pages(bytes, make_image);
    return info.format == Format::webp ? open_webp_pages(bytes, make_image) : nullptr;
  }
  Bytes encode(const HostImage& image, Format format, const EncodeOptions& options) const override {
    switch (format) {
      case Format::png: return encode_png(image, options);
      case Format::jpeg: return encode_jpeg(image, options);
      case Format::tiff: return encode_tiff(image, options);
      default: return encode_webp(image, options);
    }
  }
  std::optional<PackedPicture> scan(InputBytes bytes, const ImageInfo& info) const override {
    if (info.format == Format::tiff) return scan_tiff(bytes, info);
    return info.format == Format::png ? scan_png(bytes, info) : std::nullopt;
  }
  Bytes encode_packed(const ImageType& type, Size size, Format format,
                      std::span<const PackedChunk> chunks, const EncodeOptions& options,
                      Bytes room) const override {
    if (format == Format::png) {
      return encode_packed_png(type, size, chunks.front(), std::move(room));
    }
    return encode_packed_tiff(type, size, chunks, options, std::move(room));
  }
  std::unique_ptr<PictureRows> open_rows(int file, std::int64_t bytes, const ImageInfo& info,
                                         MakeImage make_image) const override {
    return open_tiff_rows(file, bytes, info, make_image);
  }
  std::unique_ptr<PictureSink> make_rows(int file, const ImageType& type, Size size, Size tile,
                                         const EncodeOptions& options) const override {
    return make_tiff_rows(file, type, size, tile, options);
  }
  std::unique_ptr<PictureRows> open_rows(InputBytes file, const ImageInfo& info,
                                         MakeImage make_image) const override {
    return open_jpeg_rows(file, info, make_image);
  }
  std::unique_ptr<PictureSink> make_rows(const ImageType& type, Size size,
                                         const EncodeOptions& options) const override {
    return make_jpeg_rows(type, size, options);
  }
  std::string inflate(std::string_view packed, std::int64_t most) const override {
    return inflate_text(packed, most);
  }
  std::string deflate(std::string_view text) const override { return deflate_text(text); }
};

}  // namespace
}  // namespace impipe::io

IMPIPE_OPEN_CODEC(Libraries)
