// Camera raw that is a TIFF.
#include "io/camera_raw.hpp"

#include <algorithm>
#include <iterator>

#include "io/exif.hpp"
#include "io/file_metadata.hpp"
#include "io/tiff_fields.hpp"
#include "io/xmp.hpp"

namespace impipe::io {
namespace {

constexpr std::uint16_t photometric = 262, sub_directories = 330, xmp_packet = 700;

// Whether a directory, or those below it, has values of a mosaic or of a sensor's own colours.
bool has_sensor_values(const ByteSource& source, const TiffOrder& order, std::uint64_t at,
                       bool below) {
  constexpr std::uint64_t mosaic = 32803, linear_raw = 34892, most = 16;
  const TiffDirectory directory = read_fields(source, order, at, [](std::uint16_t tag) {
    return tag == photometric || tag == sub_directories;
  });
  if (const TiffField* field = field_of(directory.fields, photometric)) {
    const std::uint64_t kind = number_of(*field, order);
    if (kind == mosaic || kind == linear_raw) return true;
  }
  const TiffField* children = field_of(directory.fields, sub_directories);
  if (children == nullptr || below) return false;
  for (std::uint64_t i = 0; i < std::min(children->count, most); ++i) {
    if (has_sensor_values(source, order, number_of(*children, order, i), true)) return true;
  }
  return false;
}

// Of the fields of a picture those that tell of the photograph: who, when, with what and how.
bool is_of_photograph(std::uint16_t tag) {
  static constexpr std::uint16_t told[] = {270, 271, 272, 282,   283,   296,  305,
                                           306, 315, 700, 33432, 34665, 34853};
  return std::find(std::begin(told), std::end(told), tag) != std::end(told);
}

}  // namespace

bool is_camera_raw(const ByteSource& source) {
  constexpr std::uint64_t canon_at = 8;
  try {
    if (source.read_some(canon_at, 2) == "CR") return true;  // CR2, whose directories are no CFA
    const TiffOrder order = tiff_order(source);
    return has_sensor_values(source, order, order.first, false);
  } catch (const Error&) {
    return false;  // as a TIFF it is told what is wrong
  }
}

MetadataRead read_camera_metadata(std::span<const std::byte> file) {
  MetadataRead out;
  const ByteSource source(file);
  try {
    const TiffOrder order = tiff_order(source);
    TiffDirectory directory = read_fields(source, order, order.first, is_of_photograph);
    if (directory.damaged) out.lose("EXIF fields that cannot be read");
    if (const TiffField* packet = field_of(directory.fields, xmp_packet)) {
      out.metadata.xmp = upright_xmp(packet->value);
    }
    std::erase_if(directory.fields, [](const TiffField& f) { return f.tag == xmp_packet; });
    std::string exif = tiff_head(order.big_endian);
    const std::uint64_t begin =
        append_directory(exif, {.big_endian = order.big_endian}, std::move(directory.fields));
    put_number(exif, 4, begin, 4, order.big_endian);
    out.metadata.resolution = exif_resolution(exif);
    out.metadata.exif = bytes_of_text(exif);
  } catch (const Error&) {
    out.lose("EXIF");
  }
  return out;
}

}  // namespace impipe::io
