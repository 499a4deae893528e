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
// What a library has made, until `release` takes it back.
template <auto release>
struct ReleaseBy {
  template <class T>
  void operator()(T* made) const {
    release(made);
  }
};
template <class T, auto release>
using Made = std::unique_ptr<T, ReleaseBy<release>>;

// The library's own idea of the header must be ours: the planes were made from ours.
inline void check_header(bool agrees, const char* format) {
  if (!agrees) fail("damaged ", format, ": contradictory headers");
}

}  // namespace impipe::io

// The symbol by which a module is opened (OpenCodec), with a class of impipe::io that is the
// module.
#define IMPIPE_OPEN_CODEC(Module)                                                      \
  extern "C" __attribute__((visibility("default"))) const impipe::io::CodecModule*     \
  impipe_open_codec(const char* version) {                                             \
    static const impipe::io::Module module;                                            \
    return std::string_view(version) == impipe::io::codec_version ? &module : nullptr; \
  }
