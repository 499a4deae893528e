// The table of formats and how a file's first bytes tell them apart.
#include "io/format.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace impipe::io {
namespace {

// clang-format off
using enum Format;
using enum Codec;
constexpr std::array<FormatTraits, 9> table{{
    // name, extensions                 codec    1-bit  8      16     float  any    alpha  meta   lossy
    {png,  "PNG",  "png",               module,  true,  true,  true,  false, false, true,  true,  false},
    {jpeg, "JPEG", "jpg jpeg jpe jfif", module,  false, true,  false, false, false, false, true,  true},
    {tiff, "TIFF", "tif tiff",          module,  true,  true,  true,  true,  true,  true,  true,  false},
    {bmp,  "BMP",  "bmp dib",           program, true,  true,  false, false, false, true,  false, false},
    {webp, "WebP", "webp",              module,  false, true,  false, false, false, true,  true,  false},
    {exr,  "EXR",  "exr",               openexr, false, false, false, true,  false, true,  false, false},
    {pnm,  "PNM",  "pgm ppm pbm pnm",   program, true,  true,  true,  false, false, false, false, false},
    {pfm,  "PFM",  "pfm",               program, false, false, false, true,  false, false, false, false},
    {npy,  "NPY",  "npy",               program, true,  true,  true,  true,  true,  true,  false, false},
}};
// clang-format on

}  // namespace

const FormatTraits& traits(Format format) { return table[static_cast<size_t>(format)]; }
std::span<const FormatTraits> all_formats() { return table; }

std::optional<Format> sniff(std::span<const std::byte> bytes) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()),
                              std::min<size_t>(bytes.size(), 16));
  using namespace std::string_view_literals;
  if (head.starts_with("\x89PNG\r\n\x1a\n"sv)) return Format::png;
  if (head.starts_with("\xff\xd8\xff"sv)) return Format::jpeg;
  if (head.starts_with("II*\0"sv) || head.starts_with("MM\0*"sv)) return Format::tiff;
  if (head.starts_with("II+\0"sv) || head.starts_with("MM\0+"sv)) return Format::tiff;  // BigTIFF
  if (head.starts_with("RIFF"sv) &&
      head.substr(std::min<size_t>(8, head.size())).starts_with("WEBP"))
    return Format::webp;
  if (head.starts_with("\x76\x2f\x31\x01"sv)) return Format::exr;
  if (head.starts_with("\x93NUMPY"sv)) return Format::npy;
  // "BM" alone begins many texts: the size of the info header, the 15th byte, must be likely.
  if (head.starts_with("BM"sv) && head.size() >= 16) {
    const auto size = static_cast<unsigned char>(head[14]);
    if (size >= 12 && size <= 124 && head[15] == 0) return Format::bmp;
  }
  const auto space_at = [&](size_t at) {
    return head.size() > at && std::strchr(" \t\r\n\v\f#", head[at]) != nullptr && head[at] != 0;
  };
  if (head.size() >= 3 && head[0] == 'P' && space_at(2)) {
    if (head[1] >= '1' && head[1] <= '6') return Format::pnm;
    if (head[1] == 'f' || head[1] == 'F') return Format::pfm;
  }
  return {};
}

std::optional<Format> format_of_extension(std::string_view name) {
  if (const size_t slash = name.rfind('/'); slash != name.npos) name.remove_prefix(slash + 1);
  if (const size_t dot = name.rfind('.'); dot != name.npos) name.remove_prefix(dot + 1);
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const FormatTraits& row : table) {
    for (std::string_view rest = row.extensions; !rest.empty();) {
      const size_t end = std::min(rest.find(' '), rest.size());
      if (rest.substr(0, end) == lower) return row.format;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return {};
}

std::string_view extension_for(Format format, PixelClass cls, int channels) {
  if (format == Format::pnm)
    return channels > 1 ? "ppm" : cls == PixelClass::logical ? "pbm" : "pgm";
  const std::string_view all = traits(format).extensions;
  return all.substr(0, all.find(' '));
}

PixelClass nearest_class(Format format, PixelClass wanted) {
  const FormatTraits& t = traits(format);
  switch (wanted) {
    case PixelClass::logical:
      if (t.one_bit) return PixelClass::logical;
      return t.eight ? PixelClass::uint8 : PixelClass::single;
    case PixelClass::uint8: return t.eight ? PixelClass::uint8 : PixelClass::single;
    case PixelClass::uint16:
      if (t.sixteen) return PixelClass::uint16;
      return t.floats ? PixelClass::single : PixelClass::uint8;
    case PixelClass::single:
      if (t.floats) return PixelClass::single;
      return t.sixteen ? PixelClass::uint16 : PixelClass::uint8;
  }
  return wanted;
}

}  // namespace impipe::io
