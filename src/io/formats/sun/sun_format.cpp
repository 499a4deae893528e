// Sun raster's row of the table of formats.
#include "io/formats/by_module.hpp"
#include "io/formats/sun/sun_raster.hpp"

namespace impipe::io {
namespace {

// Fourth bytes that differ are named as lost.
MetadataRead read_metadata(const MetadataInput& input) {
  MetadataRead out;
  const SunHeader header = sun_header(ByteSource(input.file));
  if (header.bits != 32 || header.in_run_lengths()) return out;
  const std::span<const std::byte> pixels = input.file.subspan(static_cast<size_t>(header.data));
  for (size_t at = 0; at < pixels.size(); at += 4) {
    if (pixels[at] == pixels[0]) continue;
    out.lose("a fourth byte a pixel, which is no alpha");
    break;
  }
  return out;
}

}  // namespace

const FormatTraits sun_format{
    .format = Format::sun,
    .name = "Sun raster",
    .extensions = "ras sun sr im1 im8 im24 im32",
    .module = opencv_module,
    .library = "OpenCV",
    .can = {Can::one_bit, Can::eight},
    .sniff = [](std::string_view head) { return head.starts_with("\x59\xa6\x6a\x95"); },
    .header = [](const HeaderInput& input) { return sun_header(input.source).info; },
    .decode = decode_by_module,
    .encode = not_encoded,
    .read_metadata = read_metadata,
    .with_metadata = metadata_encoded,
};

}  // namespace impipe::io
