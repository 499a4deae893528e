// JPEG XL's row of the table of formats.
#include "io/bytes/boxes.hpp"
#include "io/formats/by_module.hpp"

namespace impipe::io {
namespace {

ImageInfo read_header(const HeaderInput& input) {
  ImageInfo info = header_by_module(input);
  const ByteSource& source = input.source;
  if (big_at(source.read_some(0, 4), 0, 4) != 12) return info;  // no container
  visit_boxes(source, 0, source.size(), [&](const Box& box) {
    if (box.kind == "brob") info.metadata_bytes = max_metadata;
  });
  return info;
}

}  // namespace

const FormatTraits jxl_format{
    .format = Format::jxl,
    .name = "JPEG XL",
    .extensions = "jxl",
    .module = "impipe_codec_jxl",
    .library = "libjxl",
    .can = {Can::eight, Can::sixteen, Can::floats, Can::alpha, Can::metadata},
    .pages = Pages::like_frames,
    .sniff =
        [](std::string_view head) {
          using namespace std::string_view_literals;
          return head.starts_with("\xff\x0a") || head.starts_with("\0\0\0\x0cJXL \r\n\x87\n"sv);
        },
    .header = read_header,
    .decode = decode_by_module,
    .encode = encode_with_metadata,
    .read_metadata = metadata_by_module,
    .with_metadata = metadata_encoded,
};

}  // namespace impipe::io
