// Samples without a header, as ffmpeg's rawvideo has them: for programs that are told the rest.
#include "io/headers.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {

Bytes encode_raw(const HostImage& image) {
  Bytes out;
  out.reserve(static_cast<std::size_t>(stored_bytes(image.type, image.size().pixels())));
  append_rows(out, image, 0, image.size().height, 1);
  return out;
}

std::string raw_kind(const HostImage& image) {
  // By class, then gray, gray with alpha, colour, colour with alpha.
  constexpr const char* names[4][4] = {{"gray", "ya8", "rgb24", "rgba"},
                                       {"gray", "ya8", "rgb24", "rgba"},
                                       {"gray16le", "ya16le", "rgb48le", "rgba64le"},
                                       {"grayf32le", "yaf32le", "rgbf32le", "rgbaf32le"}};
  const int kind = (image.type.channels == 1 ? 0 : 2) + (image.type.alpha ? 1 : 0);
  return to_string(image.size()) + " " + names[static_cast<int>(image.type.cls)][kind];
}

}  // namespace impipe::io
