// JPEG 2000's row of the table of formats.
#include "io/formats/by_module.hpp"
#include "io/formats/jp2/jp2_metadata.hpp"

namespace impipe::io {
namespace {

ImageInfo read_header(const HeaderInput& input) {
  ImageInfo info = header_by_module(Format::jp2, input);
  info.orientation = jp2_orientation(input.source);
  return info;
}

void encode(HostImage& image, const EncodeInput& input, Encoded& out) {
  EncodeOptions stored = input.options;
  stored.metadata = metadata_of_module(input.metadata, Format::jp2, image, out.lost);
  const Bytes file = encoded_by_module(image, Format::jp2, stored);
  out.bytes = with_jp2_metadata(file, stored.metadata, out.lost);
}

}  // namespace

const FormatTraits jp2_format{
    .format = Format::jp2,
    .name = "JPEG 2000",
    .extensions = "jp2 j2k j2c jpc jpf jpx",
    .module = "impipe_codec_jp2",
    .library = "libopenjp2",
    .eight = true,
    .sixteen = true,
    .alpha = true,
    .metadata = true,
    .sniff =
        [](std::string_view head) {
          using namespace std::string_view_literals;
          return head.starts_with("\0\0\0\x0cjP  \r\n\x87\n"sv) ||
                 head.starts_with("\xff\x4f\xff\x51");
        },
    .header = read_header,
    .decode = decode_by_module,
    .encode = encode,
    .read_metadata = [](std::span<const std::byte> file, const ImageInfo&,
                        std::span<const int>) { return read_jp2_metadata(file); },
    .with_metadata = metadata_encoded,
};

}  // namespace impipe::io
