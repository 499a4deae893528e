// Finds the orientation in EXIF blocks, XMP packets and ImageMagick's text.
#include "io/metadata/orientation.hpp"

#include <algorithm>

#include "io/bytes/tiff_entry.hpp"
#include "io/metadata/xmp.hpp"

namespace impipe::io {
namespace {

constexpr std::string_view exif_prefix{"Exif\0\0", 6};

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

int exif_orientation(std::string_view exif) {
  if (exif.starts_with(exif_prefix)) exif.remove_prefix(exif_prefix.size());
  if (!exif.starts_with("II") && !exif.starts_with("MM")) return 0;
  try {
    int orientation = 0;
    const ByteSource source(std::as_bytes(std::span(exif)));
    const TiffOrder order = order_of_head(source);
    const TiffTable table(source, order, order.first);
    if (table.count() > TiffTable::most) return 0;
    table.visit([&](const TiffTable::Entry& entry) {
      if (entry.tag != 274) return;
      orientation = valid_tiff_orientation(TiffEntry(source, order, entry).at());
    });
    return orientation;
  } catch (const Error&) {
    return 0;  // damaged metadata does not spoil a picture
  }
}

int xmp_orientation(std::string_view packet) {
  for (size_t at = 0;;) {
    at = xmp_value(packet, "tiff:Orientation", at).begin;
    if (at == packet.npos) return 0;
    const size_t first = std::min(packet.find_first_not_of(" \t\r\n\v\f", at), packet.size());
    const size_t end = std::min(packet.find_first_not_of("0123456789", first), packet.size());
    if (end == first) continue;
    const char digit = packet[first];
    return end == first + 1 && digit >= '1' && digit <= '8' ? digit - '0' : 1;
  }
}

std::string raw_profile_bytes(std::string_view text) {
  std::string bytes;
  size_t at = 0;
  for (int line = 0; line < 3; ++line) at = std::min(text.find('\n', at), text.size() - 1) + 1;
  int high = -1;
  for (const char c : text.substr(std::min(at, text.size()))) {
    const int digit = digit_of(c);
    if (digit < 0) continue;  // the ends of lines
    if (high < 0) {
      high = digit;
    } else {
      bytes += static_cast<char>(high << 4 | digit);
      high = -1;
    }
  }
  return bytes;
}

void SaidOrientation::hear_raw_profile(std::string_view keyword, std::string_view text) {
  const std::string bytes = raw_profile_bytes(text);
  if (keyword == "Raw profile type xmp") return hear_xmp(bytes);
  if (raw_profile == 0) raw_profile = exif_orientation(bytes);
}

}  // namespace impipe::io
