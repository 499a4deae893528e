// The header of a Sun raster file: eight numbers of 32 bits, big-endian, and a colour map.
#include "io/formats/sun/sun_raster.hpp"

namespace impipe::io {
namespace {

constexpr std::int64_t header_bytes = 32;

// A map has all its reds, then its greens, then its blues.
bool is_gray(const std::string& map) {
  const size_t entries = map.size() / 3;
  return map.compare(0, entries, map, entries, entries) == 0 &&
         map.compare(0, entries, map, 2 * entries, entries) == 0;
}

ImageType type_of_pixels(int bits, const std::string& map) {
  if (bits == 1 && map.empty()) {
    return type_of(PixelClass::logical, 1, false);
  }
  const bool gray = map.empty() ? bits == 8 : is_gray(map);
  return type_of(PixelClass::uint8, gray ? 1 : 3, false);
}

}  // namespace

SunHeader sun_header(const ByteSource& source) {
  const std::string head = source.read(0, header_bytes);
  const auto number = [&](size_t i) { return static_cast<std::int64_t>(big_at(head, 4 * i, 4)); };
  const std::int64_t bits = number(3), kind = number(5), map_kind = number(6);
  SunHeader header;
  header.map_bytes = number(7);
  if (bits != 1 && bits != 8 && bits != 24 && bits != 32) {
    fail("Sun raster of ", bits, " bits a pixel; 1, 8, 24 and 32 are read");
  }
  if (kind > SunHeader::rgb) fail("Sun raster of type ", kind, "; types 0 to 3 are read");
  const bool has_map = header.map_bytes > 0;
  const bool map_fits =
      map_kind == 1 && bits <= 8 && header.map_bytes <= (3 << bits) && header.map_bytes % 3 == 0;
  if (has_map && !map_fits) {
    fail("Sun raster with a colour map of type ", map_kind, " and ", header.map_bytes,
         " bytes; maps of red, green and blue are read");
  }
  header.kind = static_cast<SunHeader::Kind>(kind);
  header.bits = static_cast<int>(bits);
  header.data = header_bytes + header.map_bytes;
  ImageInfo& info = header.info;
  info.stored = {number(1), number(2)};
  info.type = type_of_pixels(header.bits, source.read(header_bytes, header.map_bytes));
  info.detail = std::to_string(bits) + "-bit" + (has_map ? " palette" : "") +
                (header.in_run_lengths() ? ", run lengths" : "");
  header.row_bytes = ((info.stored.width * bits + 7) / 8 + 1) / 2 * 2;
  if (std::max(info.stored.width, info.stored.height) > max_side) return header;
  // A run of 3 bytes stands for at most 256.
  const std::int64_t bytes = header.row_bytes * info.stored.height;
  info.min_bytes = header.data + (header.in_run_lengths() ? (bytes + 255) / 256 * 3 : bytes);
  info.min_why = header.in_run_lengths() ? "run lengths pack at most 256 bytes" : "";
  return header;
}

}  // namespace impipe::io
