// WebP: its header, and its row of the table of formats.
#include <algorithm>
#include <string>

#include "io/formats/by_module.hpp"
#include "io/formats/webp/webp_metadata.hpp"
#include "io/metadata/orientation.hpp"

namespace impipe::io {
namespace {

ImageInfo read_header(const HeaderInput& input) {
  const ByteSource& source = input.source;
  ImageInfo info{.format = Format::webp};
  bool alpha = false, animated = false;
  int frames = 0;
  SaidOrientation said;
  for (std::int64_t at = 12; at + 8 <= source.size();) {
    const std::string chunk = source.read_some(at, 18);
    const auto length = static_cast<std::int64_t>(little_at(chunk, 4, 4));
    const std::string kind = chunk.substr(0, 4);
    if (kind == "VP8X") {
      alpha = (little_at(chunk, 8, 1) & 0x10) != 0;
      animated = (little_at(chunk, 8, 1) & 0x02) != 0;
      info.stored = {static_cast<std::int64_t>(little_at(chunk, 12, 3)) + 1,
                     static_cast<std::int64_t>(little_at(chunk, 15, 3)) + 1};
    } else if (kind == "VP8L" && chunk.size() >= 13) {
      const std::uint64_t word = little_at(chunk, 9, 4);
      if (info.stored.width == 0) {
        info.stored = {static_cast<std::int64_t>(word & 0x3fff) + 1,
                       static_cast<std::int64_t>((word >> 14) & 0x3fff) + 1};
      }
      alpha = alpha || ((word >> 28) & 1) != 0;
    } else if (kind == "VP8 " && chunk.size() >= 18) {
      info.lossy = true;
      if (info.stored.width == 0) {
        info.stored = {static_cast<std::int64_t>(little_at(chunk, 14, 2) & 0x3fff),
                       static_cast<std::int64_t>(little_at(chunk, 16, 2) & 0x3fff)};
      }
    } else if (kind == "ANMF") {
      ++frames;
    } else if (kind == "EXIF") {
      said.hear_exif(source.read_some(at + 8, length));
    } else if (kind == "XMP ") {
      said.hear_xmp(source.read_some(at + 8, length));
    }
    at += 8 + length + (length & 1);
  }
  if (info.stored.width == 0) fail("truncated WebP: no image in it");
  info.orientation = said.value();
  info.type = type_of(PixelClass::uint8, 3, alpha);
  info.detail = animated ? "animated" : info.lossy ? "lossy" : "lossless";
  if (animated) info.pages = std::max(frames, 1);
  return info;
}

}  // namespace

const FormatTraits webp_format{
    .format = Format::webp,
    .name = "WebP",
    .extensions = "webp",
    .module = main_module,
    .library = "libwebp",
    .eight = true,
    .alpha = true,
    .metadata = true,
    .longest_side = 16383,
    .pages = Pages::frames,
    .headers_alike = true,
    .sniff =
        [](std::string_view head) {
          return head.starts_with("RIFF") && head.size() >= 12 && head.substr(8, 4) == "WEBP";
        },
    .header = read_header,
    .decode = decode_by_module,
    .encode =
        [](HostImage& image, const EncodeInput& input, Encoded& out) {
          out.bytes = encoded_by_module(image, Format::webp, input.options);
        },
    .read_metadata = [](std::span<const std::byte> file, const ImageInfo&,
                        std::span<const int>) { return read_webp_metadata(text_of(file)); },
    .with_metadata =
        [](Bytes file, const Metadata& metadata, const PictureOfFile& picture, Lost& lost) {
          const Metadata ready = metadata_of_picture(metadata, Format::webp, picture, lost);
          return with_webp_metadata(file, ready, picture.image, lost);
        },
};

}  // namespace impipe::io
