// DICOM's row of the table of formats.
#include <algorithm>
#include <iterator>

#include "io/formats/by_module.hpp"
#include "io/picture/value_window.hpp"

namespace impipe::io {
namespace {

// Whether a file without the preamble of PS3.10 begins with elements of group 2 or 8, whose tags
// ascend, with or without types of values.
bool begins_with_elements(std::string_view head, bool big_endian) {
  static constexpr std::string_view types[] = {"UL", "UI", "CS", "SH", "LO", "DA", "TM", "DT"};
  constexpr std::size_t element_bytes = 8;
  std::uint64_t before = 0;
  std::size_t at = 0;
  int count = 0;
  for (; at + element_bytes <= head.size(); ++count) {
    const auto number = [&](std::size_t from, int bytes) {
      return number_at(head, at + from, bytes, big_endian);
    };
    const std::uint64_t group = number(0, 2), tag = group << 16 | number(2, 2);
    if (count > 0 && tag <= before) return false;
    if (group != 2 && group != 8) break;
    const bool has_type = std::ranges::find(types, head.substr(at + 4, 2)) != std::end(types);
    if (big_endian && !has_type) break;  // there is no such syntax
    const std::uint64_t length = has_type ? number(6, 2) : number(4, 4);
    if (length % 2 != 0 || length > 1024) break;  // of another type
    before = tag;
    at += element_bytes + length;
  }
  return count >= 2;
}

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
  if (input.info.window && input.info.window->table) {
    std::erase_if(out.lost, [](const std::string& one) { return one.ends_with("(VOI LUT)"); });
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
        [](std::string_view head) {
          return (head.size() >= 132 && head.substr(128, 4) == "DICM") ||
                 begins_with_elements(head, false) || begins_with_elements(head, true);
        },
    .header = header,
    .decode = decode,
    .encode = not_encoded,
    .read_metadata = read_metadata,
    .with_metadata = lose_metadata,
};

}  // namespace impipe::io
