// BMP: metadata, and its row of the table of formats.
#include <algorithm>
#include <string>

#include "io/bytes/tiff_fields.hpp"
#include "io/formats/bmp/bmp_layout.hpp"
#include "io/formats/format_traits.hpp"
#include "io/metadata/stale_fields.hpp"

namespace impipe::io {
namespace {

constexpr size_t bmp_density_at = 38;  // in the file: two numbers, pixels a metre

// The colours that Windows' fourth header and its fifth tell of.
void read_bmp_colours(std::string_view file, MetadataRead& out) {
  constexpr std::size_t header = 14, space = 70, ends = 74, gammas = 110, profile = 126;
  const std::string head(file.substr(0, profile + 8));
  const std::uint64_t header_bytes = little_at(head, header, 4);
  if (header_bytes < 108) return;
  const std::uint64_t kind = little_at(head, space, 4);
  const auto is_set = [&](std::size_t begin, std::size_t end) {
    return head.substr(begin, end - begin).find_first_not_of('\0') != head.npos;
  };
  if (kind == 0 && is_set(ends, gammas) && is_set(gammas, gammas + 12)) {
    out.lose("its calibrated colours");
  }
  if (header_bytes < 124) return;
  if (kind == 0x4c494e4b) out.lose("an ICC profile in another file");  // LINK
  const std::uint64_t at = header + little_at(head, profile, 4),
                      size = little_at(head, profile + 4, 4);
  if (kind != 0x4d424544) return;  // MBED
  if (at > file.size() || size > file.size() - at) return out.lose("an ICC profile that is cut");
  if (out.takes(size, "ICC profile")) {
    out.metadata.icc = bytes_of_text(std::string(file.substr(at, size)));
  }
}

MetadataRead read_metadata(const MetadataInput& input) {
  const std::string_view file = text_of(input.file);
  MetadataRead out;
  read_bmp_colours(file, out);
  const std::string head(file.substr(0, bmp_density_at + 8));
  constexpr std::uint64_t windows_header = 40;  // bytes; OS/2's first has no such fields
  if (little_at(head, 14, 4) < windows_header) return out;
  const std::uint64_t x = little_at(head, bmp_density_at, 4);
  const std::uint64_t y = little_at(head, bmp_density_at + 4, 4);
  constexpr std::uint64_t most = 0x7fffffff;
  if (x > 0 && y > 0 && x <= most && y <= most) {
    out.metadata.resolution =
        Resolution{static_cast<double>(x), static_cast<double>(y), Resolution::Unit::metre};
  }
  return out;
}

Bytes with_bmp_metadata(Bytes file, const Metadata& metadata) {
  if (!metadata.resolution || metadata.resolution->unit == Resolution::Unit::none) return file;
  const Resolution& r = *metadata.resolution;
  const double scale = r.to_metre();
  std::string text(text_of(file));
  const auto set = [&](size_t at, double value) {
    put_number(text, at, static_cast<std::uint64_t>(std::min(value * scale + 0.5, 2147483647.0)), 4,
               false);
  };
  set(bmp_density_at, r.x);
  set(bmp_density_at + 4, r.y);
  return bytes_of_text(text);
}

// The resolution alone; all else is named.
Bytes write_metadata(Bytes file, const Metadata& metadata, const PictureOfFile&, Lost& lost) {
  name_losses(metadata, false, lost);
  Metadata resolution;
  resolution.resolution = metadata.resolution;
  resolution.change = metadata.change;
  resolution.measured = metadata.measured;
  follow_resolution(resolution, lost);
  return with_bmp_metadata(std::move(file), resolution);
}

// "BM" alone begins many texts: the size of the info header, the 15th byte, must be likely.
bool is_bmp(std::string_view head) {
  if (!head.starts_with("BM") || head.size() < 16) return false;
  const auto size = static_cast<unsigned char>(head[14]);
  return size >= 12 && size <= 124 && head[15] == 0;
}

}  // namespace

const FormatTraits bmp_format{
    .format = Format::bmp,
    .name = "BMP",
    .extensions = "bmp dib",
    .can = {Can::one_bit, Can::eight, Can::alpha},
    .sniff = is_bmp,
    .header = [](const HeaderInput& input) { return bmp_layout(input.source).info; },
    .decode = decode_bmp,
    .encode = encode_bmp,
    .read_metadata = read_metadata,
    .with_metadata = write_metadata,
};

}  // namespace impipe::io
