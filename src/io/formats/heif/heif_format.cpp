// The rows of HEIF and AVIF, both files of ISO's items, in the table of formats.
#include "io/formats/by_module.hpp"
#include "io/formats/heif/heif_items.hpp"
#include "io/picture/wide_samples.hpp"

namespace impipe::io {
namespace {

// Whether integers of 16 bits are others after they were stored in so many bits.
bool loses_bits(const HostImage& image, int bits) {
  const auto changes = [&](std::uint16_t value) {
    std::uint16_t again[] = {narrowed(value, bits)};
    widen(again, bits);
    return again[0] != value;
  };
  const auto loses = [&](const Plane& plane) {
    for (std::int64_t y = 0; y < image.size().height; ++y) {
      const auto* row = plane.row_as<std::uint16_t>(y);
      if (std::any_of(row, row + image.size().width, changes)) return true;
    }
    return false;
  };
  return (image.type.alpha && loses(image.alpha)) || std::ranges::any_of(image.planes, loses);
}

// Integers of 16 bits are stored as 12 bits, or 10 where the input had 10.
Bytes encode(HostImage& image, const EncodeInput& input, Encoded& out) {
  EncodeOptions stored = input.options;
  if (input.cls == PixelClass::uint16) {
    const int bits = stored.avif_bits = input.metadata.avif_bits == 10 ? 10 : 12;
    const bool loses = loses_bits(image, bits);
    if (loses && input.options.lossless) {
      fail(name_of(input.format), " of ", bits,
           " bits cannot hold these 16-bit pixels without loss");
    }
    if (loses) out.lost.push_back(message("the lowest ", 16 - bits, " of 16 bits"));
  }
  return encode_with_metadata(
      image, {input.original, input.metadata, input.format, input.cls, stored}, out);
}

MetadataRead read_metadata(const MetadataInput& input) {
  MetadataRead out = metadata_by_module(input);
  const Lost more = unread_items(ByteSource(input.file), input.info.format);
  out.lost.insert(out.lost.end(), more.begin(), more.end());
  return out;
}

}  // namespace

const FormatTraits heif_format{
    .format = Format::heif,
    .name = "HEIF",
    .extensions = "heic heif hif",
    .module = "impipe_codec_heif",
    .library = "libheif",
    .can = {Can::eight, Can::sixteen, Can::alpha, Can::metadata},
    .pages = Pages::several,
    .sniff = [](std::string_view head) { return format_of_brand(head) == Format::heif; },
    .header = header_by_module,
    .decode = decode_by_module,
    .encode = encode,
    .read_metadata = read_metadata,
    .with_metadata = metadata_encoded,
};

const FormatTraits avif_format{
    .format = Format::avif,
    .name = "AVIF",
    .extensions = "avif",
    .module = "impipe_codec_avif",
    .library = "libavif",
    .can = {Can::eight, Can::sixteen, Can::alpha, Can::metadata},
    .pages = Pages::like_frames,
    .sniff = [](std::string_view head) { return format_of_brand(head) == Format::avif; },
    .header = header_by_module,
    .decode = decode_by_module,
    .encode = encode,
    .read_metadata = read_metadata,
    .with_metadata = metadata_encoded,
};

}  // namespace impipe::io
