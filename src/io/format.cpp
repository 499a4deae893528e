// The table of formats and how a file's first bytes tell them apart.
#include "io/picture/format.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace impipe::io {
namespace {

// clang-format off
using enum Format;
using Codec::module, Codec::openexr, Codec::openjpeg, Codec::program;
constexpr std::array<FormatTraits, 23> table{{
    // name, extensions                  codec    1-bit  8      16     float  any    alpha  meta   lossy  writes library
    {png,  "PNG",  "png",                module,  true,  true,  true,  false, false, true,  true,  false, true,  "libpng"},
    {jpeg, "JPEG", "jpg jpeg jpe jfif",  module,  false, true,  false, false, false, false, true,  true,  true,  "libjpeg"},
    {tiff, "TIFF", "tif tiff",           module,  true,  true,  true,  true,  true,  true,  true,  false, true,  "libtiff"},
    {bmp,  "BMP",  "bmp dib",            program, true,  true,  false, false, false, true,  false, false, true,  ""},
    {webp, "WebP", "webp",               module,  false, true,  false, false, false, true,  true,  false, true,  "libwebp"},
    {exr,  "EXR",  "exr",                openexr, false, false, false, true,  false, true,  true,  false, true,  "OpenEXR"},
    {pnm,  "PNM",  "pgm ppm pbm pnm",    program, true,  true,  true,  false, false, false, false, false, true,  ""},
    {pfm,  "PFM",  "pfm",                program, false, false, false, true,  false, false, false, false, true,  ""},
    {npy,  "NPY",  "npy",                program, true,  true,  true,  true,  true,  true,  false, false, true,  ""},
    {jxl,  "JPEG XL",   "jxl",           Codec::jxl,  false, true, true, true, false, true, true,  false, true,  "libjxl"},
    {avif, "AVIF", "avif",               Codec::avif, false, true, true, false, false, true, true, false, true, "libavif"},
    {jp2,  "JPEG 2000", "jp2 j2k j2c jpc jpf jpx", openjpeg, false, true, true, false, false, true, true, false, true, "libopenjp2"},
    {gif,  "GIF",  "gif",                Codec::gif, false, true, false, false, false, true, true, false, false, "giflib"},
    {qoi,  "QOI",  "qoi",                program, false, true,  false, false, false, true,  false, false, true,  ""},
    {tga,  "TGA",  "tga",                program, false, true,  false, false, false, true,  false, false, true,  ""},
    {hdr,  "Radiance HDR", "hdr rgbe pic", program, false, false, false, true, false, false, false, true, true,  ""},
    {heif, "HEIF", "heic heif hif",       Codec::heif, false, true, true, false, false, true, true, false, true, "libheif"},
    {y4m,  "Y4M",  "y4m",                program, false, true,  true,  false, false, true,  false, false, true,  ""},
    {raw,  "raw samples", "raw",         program, false, true,  true,  true,  false, true,  false, false, true,  "", false},
    {dpx,  "DPX",  "dpx",                program, false, true,  true,  false, false, true,  true,  false, true,  ""},
    {fits, "FITS", "fits fit fts",       Codec::cfitsio, false, true, true, true, false, false, false, false, false, "cfitsio"},
    {camera, "camera raw", "dng nef cr2 cr3 arw raf orf rw2 pef srw", Codec::libraw, false, false, true, false, false, false, true, false, false, "LibRaw"},
    {pam,  "PAM",  "pam",                program, true,  true,  true,  false, false, true,  false, false, true,  ""},
}};
// clang-format on

// The files of ISO's base media format tell what they are by their brands.
std::optional<Format> sniff_brand(std::string_view head) {
  if (head.size() < 12 || head.substr(4, 4) != "ftyp") return {};
  const std::string_view brand = head.substr(8, 4);
  if (brand == "avif" || brand == "avis") return avif;
  for (const std::string_view known : {"heic", "heix", "heim", "heis", "hevc", "hevx"}) {
    if (brand == known) return heif;
  }
  // Of both kinds; the list of brands tells.
  if (brand == "mif1" || brand == "msf1") {
    return head.substr(12).find("avi") != head.npos ? avif : heif;
  }
  return {};
}

// TGA has no signature, and so its header must be free of contradictions.
bool is_tga(std::string_view head) {
  constexpr size_t header_bytes = 18;
  if (head.size() < header_bytes) return false;
  const auto at = [&](size_t i) { return static_cast<unsigned char>(head[i]); };
  const int kind = at(2) & 7, bits = at(16), map_bits = at(7);
  const bool has_size = at(12) + at(13) > 0 && at(14) + at(15) > 0;
  if ((at(2) & ~11) != 0 || (at(17) & 0xc0) != 0 || !has_size) return false;
  const auto is_colour = [](int n) { return n == 15 || n == 16 || n == 24 || n == 32; };
  if (kind == 1) return at(1) == 1 && bits == 8 && is_colour(map_bits) && at(5) + at(6) > 0;
  if (at(1) != 0 || at(3) + at(4) + at(5) + at(6) + at(7) != 0) return false;
  return kind == 2 ? is_colour(bits) : kind == 3 && (bits == 8 || bits == 16);
}

}  // namespace

const FormatTraits& traits(Format format) { return table[static_cast<size_t>(format)]; }
std::span<const FormatTraits> all_formats() { return table; }

std::optional<Format> sniff(std::span<const std::byte> bytes) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()),
                              std::min(bytes.size(), sniffed_bytes));
  using namespace std::string_view_literals;
  if (head.starts_with("\x89PNG\r\n\x1a\n"sv)) return Format::png;
  if (head.starts_with("\xff\xd8\xff"sv)) return Format::jpeg;
  // Other camera raw is TIFF, and its directories tell.
  for (const std::string_view known :
       {"FUJIFILMCCD-RAW "sv, "IIRO"sv, "IIRS"sv, "MMOR"sv, "IIU\0"sv}) {
    if (head.starts_with(known)) return Format::camera;
  }
  if (head.size() >= 12 && head.substr(4, 8) == "ftypcrx ") return Format::camera;
  if (head.starts_with("SIMPLE  =  "sv)) return Format::fits;
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
    if (head.starts_with("P7\n"sv) || head.starts_with("P7\r\n"sv)) return Format::pam;
    if (head[1] == 'f' || head[1] == 'F') return Format::pfm;
  }
  if (head.starts_with("\xff\x0a"sv) || head.starts_with("\0\0\0\x0cJXL \r\n\x87\n"sv))
    return Format::jxl;
  if (head.starts_with("\0\0\0\x0cjP  \r\n\x87\n"sv) || head.starts_with("\xff\x4f\xff\x51"sv)) {
    return Format::jp2;
  }
  if (head.starts_with("GIF87a"sv) || head.starts_with("GIF89a"sv)) return Format::gif;
  if (head.starts_with("qoif"sv)) return Format::qoi;
  if (head.starts_with("SDPX"sv) || head.starts_with("XPDS"sv)) return Format::dpx;
  if (head.starts_with("YUV4MPEG2 "sv)) return Format::y4m;
  if (head.starts_with("#?RADIANCE"sv) || head.starts_with("#?RGBE"sv)) return Format::hdr;
  if (const auto format = sniff_brand(head)) return format;
  if (is_tga(head)) return Format::tga;
  return {};
}

std::optional<Format> read_format(std::string_view name) {
  const auto format = format_of_extension(name);
  return format && traits(*format).reads ? format : std::nullopt;
}

std::optional<Format> written_format(std::string_view name) {
  const auto format = format_of_extension(name);
  return format && traits(*format).writes ? format : std::nullopt;
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
