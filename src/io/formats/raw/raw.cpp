// Samples without a header, as ffmpeg's rawvideo has them: for programs that are told the rest.
#include "io/formats/format_traits.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

// Rows of pixels without a header, each one's channels side by side.
Bytes encode_raw(const HostImage& image) {
  Bytes out;
  out.reserve(static_cast<std::size_t>(stored_bytes(image.type, image.size().pixels())));
  append_rows(out, image, 0, image.size().height, 1);
  return out;
}

// "640x480 rgb24", in ffmpeg's words.
std::string raw_kind(const HostImage& image) {
  // By class, then gray, gray with alpha, colour, colour with alpha.
  constexpr const char* names[4][4] = {{"gray", "ya8", "rgb24", "rgba"},
                                       {"gray", "ya8", "rgb24", "rgba"},
                                       {"gray16le", "ya16le", "rgb48le", "rgba64le"},
                                       {"grayf32le", "yaf32le", "rgbf32le", "rgbaf32le"}};
  const int kind = (image.type.channels == 1 ? 0 : 2) + (image.type.alpha ? 1 : 0);
  return to_string(image.size()) + " " + names[static_cast<int>(image.type.cls)][kind];
}

}  // namespace

const FormatTraits raw_format{
    .format = Format::raw,
    .name = "raw samples",
    .extensions = "raw",
    .eight = true,
    .sixteen = true,
    .floats = true,
    .alpha = true,
    .writes_pages = true,
    .writes_stream = true,
    .sniff = has_no_signature,
    .header = header_not_read,
    .decode = not_decoded,
    .encode =
        [](HostImage& image, const EncodeInput&, Encoded& out) {
          out.bytes = encode_raw(image);
          out.common = raw_kind(image);
        },
    .read_metadata = no_metadata,
    .with_metadata = lose_metadata,
};

}  // namespace impipe::io
