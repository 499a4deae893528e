// The picture formats: how each is recognised, named, and what it can hold.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/image.hpp"

namespace impipe::io {

enum class Format {
  png,
  jpeg,
  tiff,
  bmp,
  webp,
  exr,
  pnm,
  pfm,
  npy,
  jxl,
  avif,
  jp2,
  gif,
  qoi,
  tga,
  hdr,
  heif,
  y4m,
  raw,
  dpx,
  fits,
  camera,
  pam
};

// What reads and writes a format: the program itself, the codec module (libpng, libjpeg, libtiff,
// libwebp), or the module of one library.
enum class Codec { program, module, openexr, jxl, avif, openjpeg, gif, heif, cfitsio, libraw };

// One row of the table of formats.
struct FormatTraits {
  Format format;
  std::string_view name;        // as in messages: "PNG"
  std::string_view extensions;  // separated by spaces, the usual one first: "jpg jpeg"
  Codec codec;
  bool one_bit, eight, sixteen, floats;
  bool any_channels;  // not 1 or 3 alone
  bool alpha;
  bool metadata;             // can carry EXIF, ICC or XMP; EXR, its own attributes
  bool lossy;                // JPEG, Radiance HDR; a WebP may be
  bool writes;               // GIF, FITS and camera raw are read alone
  std::string_view library;  // "libpng"; empty for the program itself
  bool reads = true;         // raw samples are written alone
};
const FormatTraits& traits(Format format);
std::span<const FormatTraits> all_formats();
inline std::string_view name_of(Format format) { return traits(format).name; }

// By content, never by name. Enough are the first `sniffed_bytes`.
inline constexpr std::size_t sniffed_bytes = 132;
std::optional<Format> sniff(std::span<const std::byte> bytes);
// "png", ".PNG" and "photo.png" alike; nothing for an unknown extension.
std::optional<Format> format_of_extension(std::string_view name);
// The same, of formats that are read, or written.
std::optional<Format> read_format(std::string_view name);
std::optional<Format> written_format(std::string_view name);
// The extension that says what was written: "jpg"; "pbm", "pgm" or "ppm" by what an image holds.
std::string_view extension_for(Format format, PixelClass cls, int channels);

// The class among those that the format holds that is nearest to the wanted one.
PixelClass nearest_class(Format format, PixelClass wanted);

}  // namespace impipe::io
