// AVIF's row of the table of formats.
#include "io/formats/by_module.hpp"
#include "io/formats/heif/heif_items.hpp"

namespace impipe::io {
namespace {

void encode(HostImage& image, const EncodeInput& input, Encoded& out) {
  EncodeOptions stored = input.options;
  set_wide_bits(stored, image, input, out.lost);
  stored.metadata = metadata_of_module(input.metadata, Format::avif, image, out.lost);
  out.bytes = encoded_by_module(image, Format::avif, stored);
}

MetadataRead read_metadata(std::span<const std::byte> file, const ImageInfo& info,
                           std::span<const int> together) {
  MetadataRead out = metadata_by_module(file, info, together);
  const Lost more = unread_items(ByteSource(file), Format::avif);
  out.lost.insert(out.lost.end(), more.begin(), more.end());
  return out;
}

}  // namespace

const FormatTraits avif_format{
    .format = Format::avif,
    .name = "AVIF",
    .extensions = "avif",
    .module = "impipe_codec_avif",
    .library = "libavif",
    .eight = true,
    .sixteen = true,
    .alpha = true,
    .metadata = true,
    .pages = Pages::frames,
    .headers_alike = true,
    .sniff = [](std::string_view head) { return format_of_brand(head) == Format::avif; },
    .header = [](const HeaderInput& input) { return header_by_module(Format::avif, input); },
    .decode = decode_by_module,
    .encode = encode,
    .read_metadata = read_metadata,
    .with_metadata = metadata_encoded,
};

}  // namespace impipe::io
