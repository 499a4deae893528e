// The table of formats.
#include "io/formats.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace impipe::io {
namespace {

#define IMPIPE_FORMAT(name) name##_format,
constexpr std::reference_wrapper<const FormatTraits> table[] = {
#include "io/picture/format_list.inc"
};
#undef IMPIPE_FORMAT

// Foreign picture formats, by their extensions.
constexpr std::string_view unread[] = {
    "cin", "psd", "psb",  "xcf", "ico", "cur", "svg", "pcx",  "sgi", "rgb", "xpm", "xbm",
    "dds", "ktx", "ktx2", "crw", "nrw", "sr2", "x3f", "3fr",  "iiq", "mng", "jng", "apng",
    "jxr", "wdp", "hdp",  "eps", "ai",  "emf", "wmf", "flif", "bpg", "jls", "mrc"};

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

}  // namespace

const FormatTraits& traits(Format format) { return table[static_cast<size_t>(format)]; }
std::span<const std::reference_wrapper<const FormatTraits>> all_formats() { return table; }

std::optional<Format> sniff(std::span<const std::byte> bytes) {
  const std::string_view head = text_of(bytes.first(std::min(bytes.size(), sniffed_bytes)));
  for (const FormatTraits& row : table) {
    if (row.sniff(head)) return row.format;
  }
  return {};
}

std::optional<Format> read_format(std::string_view name) {
  const auto format = format_of_extension(name);
  return format && traits(*format).reads() ? format : std::nullopt;
}

std::optional<Format> written_format(std::string_view name) {
  const auto format = format_of_extension(name);
  return format && traits(*format).writes() ? format : std::nullopt;
}

std::optional<Format> format_of_extension(std::string_view name) {
  if (const size_t slash = name.rfind('/'); slash != name.npos) name.remove_prefix(slash + 1);
  if (lowered(name).ends_with(".zarr.zip")) return Format::zarr;
  if (const size_t dot = name.rfind('.'); dot != name.npos) name.remove_prefix(dot + 1);
  const std::string lower = lowered(name);
  for (const FormatTraits& row : table) {
    for (std::string_view rest = row.extensions; !rest.empty();) {
      const size_t end = std::min(rest.find(' '), rest.size());
      if (rest.substr(0, end) == lower) return row.format;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return {};
}

std::string unread_extension(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == name.npos || format_of_extension(name)) return {};
  const std::string lower = lowered(name.substr(dot + 1));
  return std::ranges::find(unread, lower) != std::end(unread) ? lower : std::string();
}

std::string written_extensions() {
  std::string out;
  for (const FormatTraits& format : all_formats()) {
    if (!format.writes()) continue;
    if (!out.empty()) out += ", ";
    out += format.extensions.substr(0, format.extensions.find(' '));
  }
  return out;
}

std::string_view extension_for(Format format, PixelClass cls, int channels) {
  if (format == Format::pnm)
    return channels > 1 ? "ppm" : cls == PixelClass::logical ? "pbm" : "pgm";
  const std::string_view all = traits(format).extensions;
  return all.substr(0, all.find(' '));
}

PixelClass nearest_class(Format format, PixelClass wanted) {
  const Abilities& can = traits(format).can;
  switch (wanted) {
    case PixelClass::logical:
      if (can[Can::one_bit]) return PixelClass::logical;
      return can[Can::eight] ? PixelClass::uint8 : PixelClass::single;
    case PixelClass::uint8: return can[Can::eight] ? PixelClass::uint8 : PixelClass::single;
    case PixelClass::uint16:
      if (can[Can::sixteen]) return PixelClass::uint16;
      return can[Can::floats] ? PixelClass::single : PixelClass::uint8;
    case PixelClass::single:
      if (can[Can::floats]) return PixelClass::single;
      return can[Can::sixteen] ? PixelClass::uint16 : PixelClass::uint8;
  }
  return wanted;
}

}  // namespace impipe::io
