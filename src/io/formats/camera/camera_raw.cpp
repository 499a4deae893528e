// Camera raw that is a TIFF.
#include "io/formats/camera/camera_raw.hpp"

#include <algorithm>
#include <iterator>

#include "io/bytes/tiff_fields.hpp"
#include "io/formats/by_module.hpp"
#include "io/metadata/exif.hpp"
#include "io/metadata/file_metadata.hpp"
#include "io/metadata/xmp.hpp"

namespace impipe::io {
namespace {

constexpr std::uint16_t photometric = 262, sub_directories = 330, xmp_packet = 700;
constexpr std::uint64_t mosaic = 32803, linear_raw = 34892;  // photometric
constexpr std::uint64_t max_children = 16;

// Whether a directory, or those below it, has values of a mosaic or of a sensor's own colours.
bool has_sensor_values(const ByteSource& source, const TiffOrder& order, std::int64_t at,
                       bool below) {
  const TiffDirectory directory = read_fields(source, order, at, [](std::uint16_t tag) {
    return tag == photometric || tag == sub_directories;
  });
  if (const TiffField* field = field_of(directory.fields, photometric)) {
    const std::uint64_t kind = number_of(*field, order);
    if (kind == mosaic || kind == linear_raw) return true;
  }
  const TiffField* children = field_of(directory.fields, sub_directories);
  if (children == nullptr || below) return false;
  for (std::uint64_t i = 0; i < std::min(children->count, max_children); ++i) {
    const auto child = static_cast<std::int64_t>(number_of(*children, order, i));
    if (has_sensor_values(source, order, child, true)) return true;
  }
  return false;
}

// The number of a field, or what stands for it where there is none.
std::uint64_t value_of(const TiffDirectory& directory, const TiffOrder& order, std::uint16_t tag,
                       std::uint64_t otherwise) {
  const TiffField* field = field_of(directory.fields, tag);
  return field == nullptr ? otherwise : number_of(*field, order);
}

// How many strips or tiles a directory's picture has.
std::uint64_t pieces_of(const TiffDirectory& directory, const TiffOrder& order, bool tiles) {
  const std::uint64_t width = value_of(directory, order, 256, 0),
                      height = value_of(directory, order, 257, 0);
  const std::uint64_t across = tiles ? value_of(directory, order, 322, width) : width;
  const std::uint64_t down = value_of(directory, order, tiles ? 323 : 278, height);
  if (across == 0 || down == 0) return 0;
  // Rows a strip may be as many as a number can say.
  return ((width - 1) / across + 1) * (height == 0 ? 0 : (height - 1) / down + 1);
}

void check_pieces(const ByteSource& source, const TiffOrder& order, std::int64_t at) {
  constexpr std::uint64_t reduced = 1;
  const TiffDirectory directory =
      read_fields(source, order, at, [](std::uint16_t tag) { return tag >= 254 && tag <= 325; });
  const std::uint64_t kind = value_of(directory, order, photometric, 0);
  if ((kind != mosaic && kind != linear_raw) ||
      (value_of(directory, order, 254, 0) & reduced) != 0) {
    return;
  }
  const bool tiles = field_of(directory.fields, 324) != nullptr;
  const TiffField* offsets = field_of(directory.fields, tiles ? 324 : 273);
  const TiffField* bytes = field_of(directory.fields, tiles ? 325 : 279);
  const std::string piece = tiles ? "tile" : "strip";
  const std::uint64_t needed = pieces_of(directory, order, tiles);
  const std::uint64_t has =
      offsets == nullptr || bytes == nullptr ? 0 : std::min(offsets->count, bytes->count);
  if (has < needed) fail("damaged camera raw: ", has, " ", piece, "s of ", needed);
  const auto size = static_cast<std::uint64_t>(source.size());
  for (std::uint64_t i = 0; i < needed; ++i) {
    const std::uint64_t from = number_of(*offsets, order, i), count = number_of(*bytes, order, i);
    if (from > size || count > size - from) {
      fail("truncated camera raw: ", piece, " ", i + 1, " of ", needed, " is not in the file");
    }
  }
}

// Of the fields of a picture those that tell of the photograph: who, when, with what and how.
bool is_of_photograph(std::uint16_t tag) {
  static constexpr std::uint16_t told[] = {270, 271, 272, 282,   283,   296,  305,
                                           306, 315, 700, 33432, 34665, 34853};
  return std::ranges::find(told, tag) != std::end(told);
}

// Camera raw that is no TIFF.
bool is_camera_signature(std::string_view head) {
  using namespace std::string_view_literals;
  for (const std::string_view known :
       {"FUJIFILMCCD-RAW "sv, "IIRO"sv, "IIRS"sv, "MMOR"sv, "IIU\0"sv}) {
    if (head.starts_with(known)) return true;
  }
  return head.size() >= 12 && head.substr(4, 8) == "ftypcrx ";
}

// Throws Error where strips or tiles of a DNG lie outside the file, or are fewer than its picture
// has: LibRaw makes black of them.
void check_dng(const ByteSource& source) {
  constexpr std::uint16_t dng_version = 50706;
  const TiffOrder order = tiff_order(source);
  const TiffDirectory directory = read_fields(source, order, order.first, [](std::uint16_t tag) {
    return tag == dng_version || tag == sub_directories;
  });
  if (field_of(directory.fields, dng_version) == nullptr) return;
  check_pieces(source, order, order.first);
  const TiffField* children = field_of(directory.fields, sub_directories);
  if (children == nullptr) return;
  for (std::uint64_t i = 0; i < std::min(children->count, max_children); ++i) {
    check_pieces(source, order, static_cast<std::int64_t>(number_of(*children, order, i)));
  }
}

// EXIF of what is a TIFF, upright as LibRaw turns the picture; else it is named as lost.
MetadataRead read_metadata(const MetadataInput& input) {
  MetadataRead out;
  const ByteSource source(input.file);
  try {
    const TiffOrder order = tiff_order(source);
    TiffDirectory directory =
        read_fields(source, order, order.first, is_of_photograph, max_metadata);
    for (const int tag : directory.beyond) out.lose(beyond_limit("field " + std::to_string(tag)));
    if (directory.damaged) out.lose("EXIF fields that cannot be read");
    if (const TiffField* packet = field_of(directory.fields, xmp_packet)) {
      out.metadata.xmp = upright_xmp(packet->value);
    }
    std::erase_if(directory.fields, [](const TiffField& f) { return f.tag == xmp_packet; });
    const std::string exif = tiff_block(order.big_endian, std::move(directory.fields));
    out.metadata.resolution = exif_resolution(exif);
    out.metadata.exif = bytes_of_text(exif);
  } catch (const Error&) {
    out.lose("EXIF");
  }
  return out;
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

const FormatTraits camera_format{
    .format = Format::camera,
    .name = "camera raw",
    .extensions = "dng nef cr2 cr3 arw raf orf rw2 pef srw",
    .module = "impipe_codec_raw",
    .library = "LibRaw",
    .can = {Can::sixteen, Can::metadata},
    .sniff = is_camera_signature,
    .header =
        [](const HeaderInput& input) {
          if (tiff_format.sniff(input.source.read_some(0, 4))) check_dng(input.source);
          return header_by_module(input);
        },
    .decode = decode_by_module,
    .encode = not_encoded,
    .read_metadata = read_metadata,
    .with_metadata = metadata_encoded,
};

}  // namespace impipe::io
