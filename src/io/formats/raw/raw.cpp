// Samples without a header, as ffmpeg's rawvideo has them: for programs that are told the rest.
#include "io/formats/format_traits.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

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

// Rows of pixels without a header, each one's channels side by side.
Bytes encode(HostImage& image, const EncodeInput&, Encoded& out) {
  Bytes file;
  file.reserve(static_cast<std::size_t>(stored_bytes(image.type, image.size().pixels())));
  append_rows(file, image, 0, image.size().height, 1);
  out.common = raw_kind(image);
  return file;
}

}  // namespace

const FormatTraits raw_format{
    .format = Format::raw,
    .name = "raw samples",
    .extensions = "raw",
    .can = {Can::eight, Can::sixteen, Can::floats, Can::alpha, Can::write_pages, Can::write_stream},
    .sniff = has_no_signature,
    .header = header_not_read,
    .decode = not_decoded,
    .encode = encode,
    .read_metadata = no_metadata,
    .with_metadata = lose_metadata,
};

}  // namespace impipe::io
