// DICOM's row of the table of formats.
#include "io/formats/by_module.hpp"
#include "io/picture/value_window.hpp"

namespace impipe::io {
namespace {

ImageInfo header(const HeaderInput& input) {
  ImageInfo info = header_by_module(input);
  choose_window(info, input.reading.window);
  return info;
}

HostImage decode(const DecodeInput& input, Decoded& out) {
  ImageInfo numbers = out.info;
  if (out.info.window) numbers.type = out.info.window->numbers;
  HostImage image =
      page_by_module(dicom_format.module, input.file, numbers, input.options.open_pages);
  return out.info.window ? through_window(image, *out.info.window) : std::move(image);
}

// Pictures have been inverted.
MetadataRead read_metadata(const MetadataInput& input) {
  MetadataRead out = metadata_by_module(input);
  const bool is_inverted = input.info.detail.find("MONOCHROME1") != std::string::npos;
  if (is_inverted && input.info.type.white == 0) {
    out.lose("that its smallest numbers are the brightest (MONOCHROME1)");
  }
  return out;
}

}  // namespace

const FormatTraits dicom_format{
    .format = Format::dicom,
    .name = "DICOM",
    .extensions = "dcm dicom",
    .module = "impipe_codec_dicom",
    .library = "gdcm",
    .can = {Can::one_bit, Can::eight, Can::sixteen, Can::floats, Can::metadata, Can::numbers},
    .pages = Pages::several,
    .sniff =
        [](std::string_view head) { return head.size() >= 132 && head.substr(128, 4) == "DICM"; },
    .header = header,
    .decode = decode,
    .encode = not_encoded,
    .read_metadata = read_metadata,
    .with_metadata = lose_metadata,
};

}  // namespace impipe::io
