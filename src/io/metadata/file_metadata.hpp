// Metadata in picture files: taken out of them, and put into freshly encoded ones. Each kind is
// carried by itself and as it is, so that damage to one harms no other.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "io/bytes/tiff_fields.hpp"
#include "io/codec.hpp"

namespace impipe::io {

// `header`: what probe said. pages_together: see DecodeOptions.
MetadataRead read_metadata(std::span<const std::byte> file, const ImageInfo& header,
                           std::span<const int> pages_together = {});

// What metadata say of the picture of their file.
struct PictureOfFile {
  Size size;
  // It, or what a thumbnail of it is made of: see thumbnail_side.
  const HostImage& image;
};
// A freshly encoded file with the metadata in it. Adds to `lost` the names of what the format
// cannot hold.
Bytes with_metadata(Bytes file, Format format, const Metadata& metadata,
                    const PictureOfFile& picture, std::vector<std::string>& lost);

// What of the metadata is true of a picture, and goes into a file of JPEG, PNG, WebP or TIFF.
Metadata metadata_of_picture(const Metadata& metadata, Format format, const PictureOfFile& picture,
                             std::vector<std::string>& lost);

// What a module puts into a file that it encodes; the rest is named in `lost`.
Metadata metadata_of_module(const Metadata& metadata, Format format, const HostImage& image,
                            std::vector<std::string>& lost);

// For the files that read and write one format each.

// Whether a file with it has a smaller picture of its pixels.
bool wants_thumbnail(const Metadata& metadata);
// The longer side of that, in pixels at most: the picture as a SmallPicture of this side is as good
// as the picture.
int thumbnail_side(const Metadata& metadata);

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Bytes bytes_of_text(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

MetadataRead read_jpeg_metadata(std::string_view file);
MetadataRead read_png_metadata(std::string_view file);
MetadataRead read_webp_metadata(std::string_view file);
MetadataRead read_tiff_metadata(std::span<const std::byte> file, int page, const TiffPages* known,
                                std::span<const int> pages_together);
MetadataRead read_bmp_metadata(std::string_view file);
MetadataRead read_gif_metadata(std::span<const std::byte> file);
MetadataRead read_tga_metadata(std::span<const std::byte> file);
MetadataRead read_hdr_metadata(std::span<const std::byte> file);
MetadataRead read_qoi_metadata(std::span<const std::byte> file);
MetadataRead read_jp2_metadata(std::span<const std::byte> file);

// What goes into one file: metadata with sizes and thumbnails of its own picture. Each writer adds
// the names of what it leaves out.
using Lost = std::vector<std::string>;
Bytes with_jpeg_metadata(const Bytes& file, const Metadata& metadata, Lost& lost);
Bytes with_png_metadata(const Bytes& file, const Metadata& metadata, Lost& lost);
Bytes with_webp_metadata(const Bytes& file, const Metadata& metadata, const HostImage& image,
                         Lost& lost);
Bytes with_tiff_metadata(const Bytes& file, const Metadata& metadata, Lost& lost);
// What goes into a TIFF of this order: fields of its directory, and a block of EXIF, which the file
// begins with but for its header; or none.
struct TiffAdditions {
  TiffFields fields;
  std::string front;
};
TiffAdditions tiff_additions(const Metadata& metadata, const TiffOrder& order, Lost& lost);
// Without those that the directory has.
void add_fields(TiffFields& written, TiffFields more);
Bytes with_bmp_metadata(Bytes file, const Metadata& metadata);
Bytes with_jp2_metadata(const Bytes& file, const Metadata& metadata, Lost& lost);

// Names all that there is, the resolution if that is lost too.
void name_losses(const Metadata& metadata, bool resolution, Lost& lost);
void name_pieces(const Metadata& metadata, Lost& lost);

}  // namespace impipe::io
