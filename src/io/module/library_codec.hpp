// What the codecs of a module have in common.
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

}  // namespace impipe::io
