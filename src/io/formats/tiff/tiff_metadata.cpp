// Fields of a TIFF's directory: metadata taken out of them and put in.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "io/bytes/tiff_fields.hpp"
#include "io/formats/tiff/ome_xml.hpp"
#include "io/formats/tiff/tiff_blocks.hpp"
#include "io/formats/tiff/tiff_description.hpp"
#include "io/formats/tiff/tiff_header.hpp"
#include "io/formats/tiff/tiff_metadata.hpp"
#include "io/metadata/exif.hpp"
#include "io/metadata/file_metadata.hpp"
#include "io/metadata/photoshop.hpp"
#include "io/metadata/stale_fields.hpp"
#include "io/metadata/xmp.hpp"

namespace impipe::io {
namespace {

enum Tag : std::uint16_t {
  image_description = 270,
  orientation = 274,
  x_resolution = 282,
  y_resolution = 283,
  resolution_unit = 296,
  page_number = 297,
  transfer_function = 301,
  xmp_packet = 700,
  metamorph_first = 33628,  // UIC1Tag to UIC4Tag
  metamorph_last = 33631,
  iptc = 33723,
  photoshop = 34377,
  icc_profile = 34675,
  imagej_sizes = 50838,  // of ImageJ's labels, lookup tables and overlays
  imagej_metadata = 50839,
};
constexpr size_t big_head_bytes = 16;
constexpr std::uint16_t byte_type = 1, ascii_type = 2, short_type = 3, long_type = 4,
                        rational_type = 5, undefined_type = 7, long8_type = 16;

bool is_resolution(const TiffField& field) {
  return field.tag == x_resolution || field.tag == y_resolution || field.tag == resolution_unit;
}

// The value of a field, which is taken away.
std::string taken(TiffFields& fields, std::uint16_t tag) {
  TiffField* field = field_of(fields, tag);
  if (field == nullptr) return {};
  std::string value = std::move(field->value);
  std::erase_if(fields, [&](const TiffField& f) { return f.tag == tag; });
  return value;
}

TiffField text_field(std::uint16_t tag, std::uint16_t type, std::string value) {
  const std::uint64_t count = value.size();
  return {.tag = tag, .type = type, .count = count, .value = std::move(value)};
}

TiffField fraction_field(std::uint16_t tag, double value, bool big_endian) {
  const auto [over, under] = fraction_of(value);
  return numbers_field(tag, rational_type, {over, under}, big_endian);
}

void add_resolution(TiffFields& fields, const Resolution& r, bool big) {
  const double scale = r.unit == Resolution::Unit::metre ? 0.01 : 1;
  const std::uint64_t unit = r.unit == Resolution::Unit::none   ? 1
                             : r.unit == Resolution::Unit::inch ? 2
                                                                : 3;
  fields.push_back(fraction_field(x_resolution, r.x * scale, big));
  fields.push_back(fraction_field(y_resolution, r.y * scale, big));
  fields.push_back(numbers_field(resolution_unit, short_type, {unit}, big));
}

// Where strips and tiles lie: moved by so many bytes.
void move_pixels(TiffField& field, const TiffOrder& order, std::uint64_t by) {
  std::vector<std::uint64_t> places;
  for (std::uint64_t i = 0; i < field.count; ++i) places.push_back(number_of(field, order, i) + by);
  field =
      numbers_field(field.tag, order.big_tiff ? long8_type : long_type, places, order.big_endian);
}

bool is_place(const TiffField& field) {
  return field.tag == strip_offsets || field.tag == tile_offsets;
}

void set_first_directory(std::string& structure, const TiffOrder& order, std::uint64_t at) {
  const int bytes = order.offset_bytes();
  put_number(structure, static_cast<size_t>(bytes), at, bytes, order.big_endian);
}

bool is_imagej_metadata(const TiffField& field) {
  return field.tag == imagej_sizes || field.tag == imagej_metadata;
}

bool is_ome_xml(std::string_view description) {
  return description.starts_with("<OME") ||
         (description.starts_with("<?xml") &&
          description.substr(0, 4096).find("<OME") != std::string_view::npos);
}

// Whether the pages that are written together are those of the file in their order, as so many.
bool are_in_order(std::span<const int> together, std::int64_t pages) {
  for (std::size_t i = 0; i < together.size(); ++i) {
    if (together[i] != static_cast<int>(i)) return false;
  }
  return std::max<std::int64_t>(1, std::ssize(together)) == pages;
}

// What the ImageDescription says of pages, made true of those that are written together.
void describe_pages(TiffFields& fields, const TiffHeader& header, const MetadataInput& input,
                    MetadataRead& out) {
  const std::span<const int> together = input.pages_together;
  TiffField* field = field_of(fields, image_description);
  if (field == nullptr) return;
  const std::string text = field->value.substr(0, field->value.find('\0'));
  const auto all = std::max<std::int64_t>(1, static_cast<std::int64_t>(together.size()));
  if (is_ome_xml(text)) {
    out.metadata.is_ome = described_series(text) == 1;
    out.metadata.channel_names = described_channels(text);
    if (are_in_order(together, header.pages)) return;
    taken(fields, image_description);
    return out.lose("OME-XML");
  }
  const int first = header.page - header.plane;
  const std::int64_t described = described_planes(text, header.layout);
  const auto is_described = [&](int page) { return page >= first && page < first + described; };
  const auto count = std::ranges::count_if(together, is_described);
  const std::int64_t written = describes_whole_file(text) ? all : std::max<std::int64_t>(1, count);
  std::vector<std::string> lost;
  std::string now = description_of_pages(text, header.layout, written, input.axes, lost);
  if (now != text) *field = text_field(image_description, ascii_type, now + '\0');
  const bool is_same = described == written && are_in_order(together, header.pages);
  if (!is_same && std::erase_if(fields, is_imagej_metadata) > 0) {
    lost.emplace_back("ImageJ's labels and overlays");
  }
  for (const std::string& one : lost) out.lose(one);
}

// ImageJ's description, which the first directory of a file has for all, goes to the first of the
// pages that are written together.
void move_description(TiffFields& fields, const ByteSource& source, const TiffHeader& header,
                      std::span<const int> together) {
  const auto is_described = [](const TiffFields& some) {
    const TiffField* field = field_of(some, image_description);
    return field != nullptr && describes_whole_file(field->value);
  };
  const auto is_part = [](const TiffField& field) {
    return field.tag == image_description || is_imagej_metadata(field);
  };
  if (together.size() < 2) return;
  if (header.page != together.front()) {
    if (is_described(fields)) std::erase_if(fields, is_part);
  } else if (field_of(fields, image_description) == nullptr) {
    const TiffOrder order = tiff_order(source);
    const auto is_wanted = [&](std::uint16_t tag) { return is_part({.tag = tag}); };
    TiffFields first = read_fields(source, order, order.first, is_wanted, max_metadata).fields;
    if (is_described(first)) std::ranges::move(first, std::back_inserter(fields));
  }
}

// Of the pages that are written together the header's is one. What the directory of several planes
// says of them goes to the first of these; MetaMorph's tags would say of any result that its planes
// follow one directory.
void follow_pages(TiffFields& fields, const TiffHeader& header, const MetadataInput& input,
                  MetadataRead& out) {
  const auto is_metamorph = [](const TiffField& field) {
    return field.tag >= metamorph_first && field.tag <= metamorph_last;
  };
  if (std::erase_if(fields, is_metamorph) > 0) out.lose("MetaMorph's tags");
  const int first = header.page - header.plane;
  const TiffPlanes& planes = header.planes;
  if (const std::int64_t missing = planes.claimed - (header.pages - first); missing > 0) {
    out.lose(std::to_string(missing) + " of the " + std::to_string(planes.claimed) +
             " planes that " + planes.claimant + " claims");
  }
  const auto is_of_directory = [&](int page) {
    return page >= first && page < first + header.planes.count;
  };
  const auto first_written = std::ranges::find_if(input.pages_together, is_of_directory);
  if (first_written != input.pages_together.end() && *first_written != header.page) {
    std::erase_if(fields, [](const TiffField& field) {
      return field.tag == image_description || is_imagej_metadata(field);
    });
  }
  move_description(fields, ByteSource(input.file), header, input.pages_together);
  describe_pages(fields, header, input, out);
}

// What metadata becomes as fields of the picture's directory, EXIF's aside.
TiffFields fields_of(const Metadata& m) {
  TiffFields out;
  if (!m.xmp.empty()) out.push_back(text_field(xmp_packet, byte_type, m.xmp));
  if (!m.icc.empty()) {
    out.push_back(text_field(icc_profile, undefined_type, std::string(text_of(m.icc))));
  }
  const std::string_view resources = text_of(m.photoshop);
  if (const std::string block = iptc_of(resources); !block.empty()) {
    out.push_back(text_field(iptc, undefined_type, block));
  }
  if (!resources.empty() && !has_only_iptc(resources)) {
    out.push_back(text_field(photoshop, byte_type, std::string(resources)));
  }
  return out;
}

// Whether samples are decoded as they are: none is scaled, inverted, looked up or divided.
bool is_stored_as_decoded(const TiffLayout& l) {
  const bool upright = l.photometric == tiff_black_is_zero || l.photometric == tiff_rgb;
  const bool divided = std::ranges::find(l.extra, tiff_associated_alpha) != l.extra.end();
  const bool whole = l.numbers == tiff_unsigned || l.numbers == tiff_untyped;
  const bool same_bits = whole ? l.bits == 8 || l.bits == 16 || (l.bits == 1 && l.samples == 1)
                               : l.numbers == tiff_float && l.bits == 32;
  return upright && !divided && same_bits;
}

}  // namespace

MetadataRead read_tiff_metadata(const MetadataInput& input) {
  MetadataRead out;
  Metadata& m = out.metadata;
  const ByteSource source(input.file);
  const TiffHeader header = read_tiff(source, input.info.page, input.info.tiff_pages.get());
  const TiffOrder order = tiff_order(source);
  m.big_endian = order.big_endian;
  m.stored_as_decoded = is_stored_as_decoded(header.layout);
  TiffDirectory directory;
  try {
    directory = read_fields(
        source, order, header.directory,
        [](std::uint16_t tag) {
          return !is_structure_tag(tag) || tag == xmp_packet || tag == iptc || tag == photoshop ||
                 tag == icc_profile || tag == transfer_function;
        },
        max_metadata);
  } catch (const Error&) {
    directory.damaged = true;
  }
  TiffFields& fields = directory.fields;
  if (directory.damaged) out.lost.push_back("fields that cannot be read");
  for (const int tag : directory.beyond) out.lose(beyond_limit("field " + std::to_string(tag)));
  if (!taken(fields, transfer_function).empty()) out.lost.push_back("a transfer function");
  if (header.others > 0) {
    out.lost.push_back(header.others == 1
                           ? "a reduced image or mask"
                           : std::to_string(header.others) + " reduced images or masks");
  }
  if (header.has_children) out.lost.push_back("pictures in sub-directories");
  if (header.layout.photometric == tiff_white_is_zero && header.layout.numbers == tiff_float) {
    out.lost.push_back("WhiteIsZero (its floats are read as they are stored)");
  }
  m.xmp = upright_xmp(taken(fields, xmp_packet));
  m.icc = bytes_of_text(taken(fields, icc_profile));
  std::string resources = taken(fields, photoshop);
  const std::string block = taken(fields, iptc);
  if (!block.empty() && iptc_of(resources).empty()) resources += resources_of_iptc(block);
  m.photoshop = bytes_of_text(resources);
  taken(fields, orientation);
  follow_pages(fields, header, input, out);
  const bool only_resolution = std::ranges::all_of(fields, is_resolution);
  if (fields.empty()) return out;
  const std::string exif = tiff_block(order.big_endian, std::move(fields));
  m.resolution = exif_resolution(exif);
  m.exif_of_tiff = !only_resolution;
  if (!only_resolution) m.exif = bytes_of_text(exif);
  return out;
}

TiffAdditions tiff_additions(const Metadata& metadata, const TiffOrder& order, Lost& lost) {
  if (!metadata.comments.empty()) lost.push_back("a comment");
  name_pieces(metadata, lost);
  TiffAdditions out{fields_of(metadata), std::string(text_of(metadata.exif))};
  if (!out.front.empty()) {
    try {
      const ByteSource block(metadata.exif);
      const TiffOrder its = tiff_order(block);
      TiffDirectory said = read_fields(block, its, its.first, [](auto) { return true; });
      if (its.big_tiff || its.big_endian != order.big_endian) fail("of another byte order");
      if (said.damaged) lost.push_back("EXIF fields that cannot be read");
      for (TiffField& field : said.fields) {
        if (is_structure_tag(field.tag)) continue;
        // They stay where they are, unless the file's own header is longer than a block's.
        if (!order.big_tiff) field.children.clear();
        out.fields.push_back(std::move(field));
      }
    } catch (const Error&) {
      lost.push_back("EXIF that cannot be read");
      out.front.clear();
    }
  }
  if (metadata.resolution && field_of(out.fields, x_resolution) == nullptr) {
    add_resolution(out.fields, *metadata.resolution, order.big_endian);
  }
  return out;
}

// The name of what a text said that OME-XML in its place says anew, in part.
static void rename_loss(Lost& lost) {
  const auto old = std::ranges::find(lost, "OME-XML");
  if (old != lost.end()) *old = "OME-XML but for axes and sizes";
}

void describe_tiff(TiffFields& fields, const TiffLayout& layout, std::int64_t count,
                   const FileAxes& file, Lost& lost) {
  const TiffField* field = field_of(fields, image_description);
  std::string text = field == nullptr ? "" : field->value.substr(0, field->value.find('\0'));
  const bool says_it = describes_whole_file(text) || is_aperio(text);
  if (is_ome_xml(text) || (says_it && !file.is_ome)) return;
  const bool has_axes = !file.pages.empty() || !of_pages(file.measured).empty();
  if (!file.is_ome && !has_axes) return;
  FileAxes said = file;
  if (said.pages.empty() && count > 1) said.pages = {{'z', static_cast<int>(count)}};
  if (describes_whole_file(text)) lost.emplace_back("ImageJ's description");
  if (may_describe_stack(text)) text.clear();
  std::string xml;
  if (text.empty() || file.is_ome) xml = ome_xml(layout, said, text);
  if (xml.empty()) {
    if (file.is_ome) lose(lost, "OME-XML, which has no such axes or type of samples");
    return name_axes(file.pages, of_pages(file.measured), lost);
  }
  rename_loss(lost);
  for (const MeasuredAxis& axis : file.measured) {
    if (axis.unit.empty() ? axis.scale != 1 : !is_unit(axis.unit)) {
      lose(lost, "where pixels lie along " + axis.name);
    }
  }
  taken(fields, image_description);
  std::erase_if(fields, is_imagej_metadata);
  fields.push_back(text_field(image_description, ascii_type, xml + '\0'));
}

void add_fields(TiffFields& written, TiffFields more) {
  std::erase_if(more,
                [&](const TiffField& field) { return field_of(written, field.tag) != nullptr; });
  std::move(more.begin(), more.end(), std::back_inserter(written));
}

// The file begins with the EXIF block, so that every offset in it stays true, those in maker notes
// too, which nobody else can mend. Then come the pixels, and a directory that names both.
Bytes with_tiff_metadata(Bytes file, const Metadata& metadata, const PictureOfFile& picture,
                         Lost& lost) {
  const ByteSource source(file);
  const TiffOrder order = tiff_order(source);
  TiffDirectory written =
      read_fields(source, order, order.first, [](std::uint16_t) { return true; });
  const TiffField* tiles = field_of(written.fields, tile_offsets);
  const bool is_complete =  // a TiledTiff, whose directories lie before its tiles
      tiles != nullptr && number_of(*tiles, order) > static_cast<std::uint64_t>(order.first);
  if (is_complete) return file;
  const Metadata ready = metadata_of_picture(metadata, Format::tiff, picture, lost);
  for (const MeasuredAxis& axis : metadata.measured) {
    const bool has_origin = metadata.zarr != nullptr && axis.translation != 0;
    if (has_origin) lose(lost, "where pixels lie along " + axis.name);
  }
  TiffAdditions more = tiff_additions(ready, order, lost);
  if (!ready.is_page) {
    describe_tiff(more.fields, read_tiff(source).layout, 1, axes_of_result(ready), lost);
  }
  if (more.fields.empty()) return file;
  std::string head = std::move(more.front);
  if (order.big_tiff) head = text_of(file).substr(0, big_head_bytes);
  if (head.empty()) head = tiff_head(order.big_endian);
  if (head.size() % 2 != 0) head += '\0';
  const size_t shift = head.size() - (order.big_tiff ? big_head_bytes : 8);
  for (TiffField& field : written.fields) {
    if (is_place(field)) move_pixels(field, order, shift);
  }
  add_fields(written.fields, std::move(more.fields));
  if (file.size() % 2 != 0) file.push_back({});
  std::string tail;
  const std::uint64_t begin =
      append_directory(tail, order, std::move(written.fields), 0, file.size() + shift);
  set_first_directory(head, order, begin);
  // Pixels move in memory only where something comes before them.
  file.reserve(file.size() + shift + tail.size());
  file.insert(file.begin(), shift, std::byte{});
  std::memcpy(file.data(), head.data(), head.size());
  const auto end = std::as_bytes(std::span(tail));
  file.insert(file.end(), end.begin(), end.end());
  return file;
}

// The bytes [begin, end) of a file of one page that hold all its strips or tiles.
static std::pair<std::uint64_t, std::uint64_t> pixels_of(const TiffFields& fields,
                                                         const TiffOrder& order) {
  const bool in_tiles = field_of(fields, tile_offsets) != nullptr;
  const TiffField* offsets = field_of(fields, in_tiles ? tile_offsets : strip_offsets);
  const TiffField* bytes = field_of(fields, in_tiles ? tile_byte_counts : strip_byte_counts);
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;
  for (std::uint64_t i = 0; i < offsets->count; ++i) {
    const std::uint64_t at = number_of(*offsets, order, i);
    begin = std::min(begin, at);
    end = std::max(end, at + number_of(*bytes, order, i));
  }
  return {begin, end};
}

// Takes out of a page's fields a description of a stack that is none of the file's so many pages:
// one of other pages, of several files that are joined, or of pages that differ. Returns its name,
// empty where it stays or says nothing that is missing.
static std::string without_untrue(TiffFields& fields, const ByteSource& page, size_t pages,
                                  bool of_files, bool alike, bool is_first) {
  const TiffField* field = field_of(fields, image_description);
  if (field == nullptr || pages < 2) return "";
  const std::string text = field->value.substr(0, field->value.find('\0'));
  const bool is_ome = is_ome_xml(text), is_imagej = describes_whole_file(text);
  // tifffile's shape is of the pages from its own on, of which others may follow.
  const bool is_stack = is_ome || is_imagej || (of_files && may_describe_stack(text));
  const bool are_other = of_files || !alike;
  if (!is_stack || (!is_first && !are_other)) return "";
  const auto count = static_cast<std::int64_t>(pages);
  const bool is_true = is_ome
                           ? described_series(text) > 1 || ome_planes(text) == count
                           : !is_imagej || described_planes(text, read_tiff(page).layout) == count;
  if (is_true && !are_other) return "";
  taken(fields, image_description);
  std::erase_if(fields, is_imagej_metadata);
  return is_ome ? "OME-XML" : is_imagej ? "ImageJ's description" : "";
}

// Whether pages have one size and type.
static bool are_alike(std::span<const Bytes> pages) {
  const TiffLayout first = read_tiff(ByteSource(pages.front())).layout;
  return std::ranges::all_of(pages, [&](const Bytes& page) {
    const TiffLayout other = read_tiff(ByteSource(page)).layout;
    return other.size == first.size && other.bits == first.bits && other.samples == first.samples &&
           other.numbers == first.numbers;
  });
}

// The header of a BigTIFF whose first directory is still to be set.
static std::string big_head(bool big_endian) {
  std::string out(big_head_bytes, '\0');
  out.replace(0, 2, big_endian ? "MM" : "II");
  put_number(out, 2, 43, 2, big_endian);
  put_number(out, 4, 8, 2, big_endian);  // bytes of an offset
  return out;
}

// The order that all pages get: numbers of more than 8 bits decide, else the first page.
static TiffOrder order_of_pages(std::span<const Bytes> pages, bool big_tiff) {
  // Room for the directories, which are written anew.
  constexpr std::uint64_t max_classic = std::uint64_t{4000} << 20;
  std::uint64_t all_bytes = 0;
  for (const Bytes& page : pages) all_bytes += page.size();
  const auto wide = std::ranges::find_if(
      pages, [](const Bytes& page) { return read_tiff(ByteSource(page)).layout.bits > 8; });
  TiffOrder order = tiff_order(ByteSource(wide != pages.end() ? *wide : pages.front()));
  order.big_tiff = big_tiff || all_bytes > max_classic;
  return order;
}

// Pixels follow each other without gaps: programs that know ImageJ's and tifffile's descriptions
// expect that of pages that are not compressed.
Bytes join_tiff_pages(std::span<const Bytes> pages, const FileAxes& file, Lost& lost,
                      bool big_tiff) {
  const TiffOrder order = order_of_pages(pages, big_tiff);
  std::string out = order.big_tiff ? big_head(order.big_endian) : tiff_head(order.big_endian);
  const bool alike = are_alike(pages);
  if (file.is_ome && !alike) {
    fail("an OME-TIFF holds pages of one size and type; -o '{stem}_{page}.ome.tif' names each");
  }
  const auto count = static_cast<std::int64_t>(pages.size());
  const auto describe_page = [&](TiffFields& fields, const ByteSource& page, bool is_first) {
    const std::string untrue =
        without_untrue(fields, page, pages.size(), file.of_files, alike, is_first);
    if (!is_first) return;
    if (!untrue.empty()) lose(lost, untrue);
    if (alike) return describe_tiff(fields, read_tiff(page).layout, count, file, lost);
    name_axes(file.pages, of_pages(file.measured), lost);
  };
  std::vector<TiffFields> directories;
  for (const Bytes& page : pages) {
    const ByteSource source(page);
    TiffOrder its = tiff_order(source);
    const bool is_turned = its.big_endian != order.big_endian;
    if (is_turned && read_tiff(source).layout.bits > 8) fail("TIFF of pages in two byte orders");
    TiffDirectory directory =
        read_fields(source, its, its.first, [](std::uint16_t tag) { return tag != page_number; });
    const auto [begin, end] = pixels_of(directory.fields, its);
    if (is_turned) turn_fields(directory.fields, lost);
    its.big_endian = order.big_endian;
    describe_page(directory.fields, source, directories.empty());
    // The first page's block of EXIF stays where it was, before its pixels.
    if (directories.empty() && !order.big_tiff && !its.big_tiff && !is_turned) {
      for (TiffField& field : directory.fields) field.children.clear();
      out = text_of(page).substr(0, end);
    } else {
      const std::uint64_t shift = out.size() - begin;
      out += text_of(page).substr(begin, end - begin);
      for (TiffField& field : directory.fields) {
        if (is_place(field)) move_pixels(field, its, shift);
      }
    }
    if (pages.size() <= 65535) {
      directory.fields.push_back(numbers_field(
          page_number, short_type, {directories.size(), pages.size()}, order.big_endian));
    }
    directories.push_back(std::move(directory.fields));
  }
  // From the last to the first, so that each knows the next.
  std::uint64_t next = 0;
  for (auto fields = directories.rbegin(); fields != directories.rend(); ++fields) {
    next = append_directory(out, order, std::move(*fields), next);
  }
  set_first_directory(out, order, next);
  return bytes_of_text(out);
}

bool is_big_endian(const Metadata& metadata) {
  return metadata.exif.empty() ? metadata.big_endian : text_of(metadata.exif).starts_with("MM");
}

void set_tiff_storage(const Metadata& metadata, EncodeOptions& stored) {
  stored.big_endian_tiff = is_big_endian(metadata);
  if (stored.compression == Compression::as_input) stored.tiff = metadata.tiff;
}

}  // namespace impipe::io
