// Changes EXIF blocks in place.
#include "io/metadata/exif.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "io/bytes/tiff_fields.hpp"
#include "io/metadata/thumbnail.hpp"
#include "io/metadata/tiff_block.hpp"

namespace impipe::io {
namespace {

enum Tag : std::uint16_t {
  interoperability_index = 1,
  image_width = 256,
  image_length = 257,
  strip_offsets = 273,
  orientation = 274,
  strip_bytes = 279,
  x_resolution = 282,
  y_resolution = 283,
  resolution_unit = 296,
  thumbnail_offset = 513,
  thumbnail_bytes = 514,
  exif_directory = 34665,
  subject_area = 37396,
  maker_note = 37500,
  colour_space = 40961,
  pixel_x = 40962,
  pixel_y = 40963,
  interoperability = 40965,
  focal_plane_x = 41486,
  focal_plane_y = 41487,
  subject_location = 41492,
};
constexpr int ascii_type = 2;
constexpr std::uint64_t short_type = 3, rational_type = 5;

// A block with its thumbnail.
class Block : public TiffBlock {
 public:
  using TiffBlock::TiffBlock;

  size_t thumbnail_directory() const { return next(first()); }
  bool has_jpeg() const {
    const size_t directory = thumbnail_directory();
    const size_t at = value(directory, thumbnail_offset), count = value(directory, thumbnail_bytes);
    return at >= 8 && count >= 4 && at < bytes_.size() && count <= bytes_.size() - at;
  }
  std::string_view jpeg() const {
    const size_t directory = thumbnail_directory();
    return std::string_view(bytes_).substr(value(directory, thumbnail_offset),
                                           value(directory, thumbnail_bytes));
  }

  // The pixels of the old thumbnail, which are of another picture now, and the end of the block
  // where they were the last thing in it.
  void wipe_thumbnail() {
    const size_t directory = thumbnail_directory();
    const auto wipe = [&](size_t at, size_t count) {
      if (at < 8 || at >= bytes_.size() || count > bytes_.size() - at) return;
      zero(at, count);
      if (at + count == bytes_.size()) bytes_.resize(at);
    };
    if (entry(directory, strip_offsets) != 0 &&
        number(entry(directory, strip_offsets) + 4, 4) == 1) {
      wipe(value(directory, strip_offsets), value(directory, strip_bytes));
    }
    wipe(value(directory, thumbnail_offset), value(directory, thumbnail_bytes));
  }
  void drop_thumbnail() {
    if (thumbnail_directory() == 0) return;
    wipe_thumbnail();
    const size_t at = next_at(first());
    if (at + 4 <= bytes_.size()) put_number(bytes_, at, 0, 4, big_);
  }
  void replace_thumbnail(std::string_view jpeg) {
    const size_t directory = thumbnail_directory();
    const size_t old = value(directory, thumbnail_offset);
    const size_t room = value(directory, thumbnail_bytes);
    wipe_thumbnail();
    size_t at = old;
    if (old >= bytes_.size() || jpeg.size() > room) {
      if (bytes_.size() % 2 != 0) bytes_ += '\0';
      at = bytes_.size();
    }
    if (at + jpeg.size() > bytes_.size()) bytes_.resize(at + jpeg.size());
    bytes_.replace(at, jpeg.size(), jpeg);
    set(directory, thumbnail_offset, at);
    set(directory, thumbnail_bytes, jpeg.size());
    set(directory, orientation, 1);
    const Size size = jpeg_size(jpeg);
    set(directory, image_width, static_cast<std::uint64_t>(size.width));
    set(directory, image_length, static_cast<std::uint64_t>(size.height));
  }
};

bool follow_subject(Block& b, size_t directory, std::uint16_t tag, const PixelChange& change) {
  const size_t entry = b.entry(directory, tag);
  if (entry == 0) return true;
  const size_t at = b.values_at(entry), count = b.number(entry + 4, 4);
  constexpr size_t least = 2, most = 4;
  std::vector<double> area;
  if (at != 0 && b.number(entry + 2, 2) == short_type && count >= least && count <= most) {
    for (size_t i = 0; i < count; ++i) {
      area.push_back(static_cast<double>(b.number(at + 2 * i, 2)));
    }
  }
  if (area.empty() || !follow_area(area, change)) return false;
  for (size_t i = 0; i < count; ++i) {
    b.put(at + 2 * i, static_cast<std::uint64_t>(std::min(std::round(area[i]), 65535.0)), 2);
  }
  return true;
}

void put_fraction(Block& b, size_t entry, double value) {
  const size_t at = b.values_at(entry);
  const auto [over, under] = fraction_of(value);
  b.put(at, over, 4);
  b.put(at + 4, under, 4);
}

// The fields of a resolution in x and in y of a picture whose pixels are rectangles of the file's;
// the numbers are of as many pixels more as there are, or stay. False when they cannot be read.
bool follow_resolution(Block& b, size_t directory, const std::array<std::uint16_t, 2>& tags,
                       const PixelChange& change, bool grows) {
  const size_t entries[] = {b.entry(directory, tags[0]), b.entry(directory, tags[1])};
  if (entries[0] == 0 && entries[1] == 0) return true;
  double values[2] = {};
  for (int i = 0; i < 2; ++i) {
    const size_t at = entries[i] == 0 ? 0 : b.values_at(entries[i]);
    if (at == 0 || b.number(entries[i] + 2, 2) != rational_type) return false;
    const auto under = static_cast<double>(b.number(at + 4, 4));
    values[i] = under == 0 ? 0 : static_cast<double>(b.number(at, 4)) / under;
  }
  if (grows) {
    if (values[0] <= 0 || values[1] <= 0) return false;
    const auto lengths = change.pixel_lengths({1 / values[0], 1 / values[1]});
    if (!lengths) return false;
    values[0] = 1 / lengths->x;
    values[1] = 1 / lengths->y;
  } else if (change.is_transposed()) {
    std::swap(values[0], values[1]);
  } else if (!change.is_straight()) {
    return false;
  }
  for (int i = 0; i < 2; ++i) put_fraction(b, entries[i], values[i]);
  return true;
}

}  // namespace

bool follow_area(std::vector<double>& area, const PixelChange& change) {
  if (!change.place) return false;
  const AffinePlace& p = *change.place;
  const double det = p.a * p.e - p.b * p.d, x = area[0] - p.c, y = area[1] - p.f;
  if (det == 0) return false;
  area[0] = (p.e * x - p.b * y) / det;
  area[1] = (p.a * y - p.d * x) / det;
  const auto is_inside = [](double at, std::int64_t side) {
    return std::round(at) >= 0 && std::round(at) < static_cast<double>(side);
  };
  if (!is_inside(area[0], change.after.width) || !is_inside(area[1], change.after.height)) {
    return false;
  }
  if (area.size() == 2) return true;
  if (!change.is_straight() && !change.is_transposed()) return false;
  if (area.size() == 3) {
    area[2] *= change.scale_x();
    return change.scale_x() == change.scale_y();
  }
  if (change.is_transposed()) std::swap(area[2], area[3]);
  area[2] *= change.scale_x();
  area[3] *= change.scale_y();
  return true;
}

std::string exif_without(std::string block,
                         const std::function<bool(std::uint16_t tag)>& is_stale) {
  Block b(block);
  const size_t first = b.first();
  for (const size_t directory : {b.value(first, exif_directory), first}) {
    b.remove_if(directory, is_stale);
  }
  if (b.entries(first) == 0 && b.next(first) == 0) return {};
  return block;
}

std::string exif_text(std::string_view block, std::uint16_t tag) {
  std::string bytes(block);
  const Block b(bytes);
  const size_t entry = b.entry(b.first(), tag);
  const size_t at = entry == 0 ? 0 : b.values_at(entry);
  return at == 0 ? std::string() : bytes.substr(at, b.bytes_of_values(entry));
}

std::string exif_with_text(std::string block, std::uint16_t tag, std::string_view text) {
  Block b(block);
  const size_t entry = b.entry(b.first(), tag);
  const size_t at = entry == 0 ? 0 : b.values_at(entry);
  if (at == 0) return block;
  const size_t room = b.bytes_of_values(entry);
  b.zero(at, room);
  if (text.size() > room) {  // behind everything else, with the zero that ends it
    block.resize((block.size() + 1) / 2 * 2);
    b.retag(entry, tag, ascii_type, text.size() + 1, block.size());
    block.append(text).push_back('\0');
    return block;
  }
  const size_t count = std::min(text.size(), room);
  // Of at most four bytes it would have to lie in the entry itself: the zeros stay.
  block.replace(at, count, text.substr(0, count));
  if (room > 4) b.put(entry + 4, std::max<size_t>(count, 5), 4);
  return block;
}

std::string exif_of_moved(std::string block, const PixelChange& change,
                          std::vector<std::string>& lost) {
  Block b(block);
  // TIFF/EP has these fields in the first directory.
  for (const size_t directory : {b.value(b.first(), exif_directory), b.first()}) {
    const auto drop = [&](std::initializer_list<std::uint16_t> tags, const char* name) {
      b.remove_if(directory,
                  [&](std::uint16_t tag) { return std::ranges::find(tags, tag) != tags.end(); });
      lost.emplace_back(name);
    };
    if (!follow_subject(b, directory, subject_area, change))
      drop({subject_area}, "EXIF SubjectArea");
    if (!follow_subject(b, directory, subject_location, change)) {
      drop({subject_location}, "EXIF SubjectLocation");
    }
    if (!follow_resolution(b, directory, {focal_plane_x, focal_plane_y}, change, true)) {
      drop({focal_plane_x, focal_plane_y}, "EXIF FocalPlaneResolution");
    }
  }
  return block;
}

ExifColours exif_colours(std::string_view block) {
  std::string bytes(block);
  const Block b(bytes);
  const size_t directory = b.value(b.first(), exif_directory);
  const std::uint64_t space = b.value(directory, colour_space);
  if (space == 1) return ExifColours::srgb;
  const size_t index = b.entry(b.value(directory, interoperability), interoperability_index);
  const bool is_r03 = index != 0 && bytes.compare(index + 8, 4, "R03\0", 4) == 0;
  return is_r03 || space == 2 ? ExifColours::adobe_rgb : ExifColours::unsaid;
}

std::string exif_with_colours(std::string block, bool is_srgb) {
  Block b(block);
  const size_t directory = b.value(b.first(), exif_directory);
  b.set(directory, colour_space, is_srgb ? 1 : 65535);
  b.remove_if(b.value(directory, interoperability),
              [](std::uint16_t tag) { return tag == interoperability_index; });
  return block;
}

std::string exif_of_resolution_moved(std::string block, const PixelChange& change, bool grows) {
  Block b(block);
  const std::array<std::uint16_t, 2> tags{x_resolution, y_resolution};
  if (follow_resolution(b, b.first(), tags, change, grows)) return block;
  b.remove_if(b.first(), [&](std::uint16_t tag) {
    return tag == x_resolution || tag == y_resolution || tag == resolution_unit;
  });
  return block;
}

std::string exif_with_resolution(std::string block, const Resolution& resolution) {
  Block b(block);
  const size_t first = b.first();
  const size_t x = b.entry(first, x_resolution), y = b.entry(first, y_resolution);
  const auto is_fraction = [&](size_t entry) {
    return entry != 0 && b.values_at(entry) != 0 && b.number(entry + 2, 2) == rational_type;
  };
  if (!is_fraction(x) || !is_fraction(y)) return block;
  const bool has_unit = b.entry(first, resolution_unit) != 0;
  constexpr std::uint64_t centimetres = 3;
  const double scale = resolution.to_metre() * (has_unit ? 0.01 : 0.0254);  // inches by default
  put_fraction(b, x, resolution.x * scale);
  put_fraction(b, y, resolution.y * scale);
  b.set(first, resolution_unit, centimetres);
  return block;
}

bool is_exif(std::string_view block) {
  using namespace std::string_view_literals;
  return block.size() >= 14 && (block.starts_with("II*\0"sv) || block.starts_with("MM\0*"sv));
}

std::string upright_exif(std::string block) {
  Block b(block);
  const size_t first = b.first();
  if (b.entry(first, orientation) == 0) return block;
  if (b.entries(first) == 1 && b.next(first) == 0) return {};
  b.set(first, orientation, 1);
  return block;
}

std::optional<Resolution> exif_resolution(std::string_view block) {
  try {
    const ByteSource source(std::as_bytes(std::span(block)));
    const TiffOrder order = tiff_order(source);
    const TiffDirectory found = read_fields(source, order, order.first, [](std::uint16_t tag) {
      return tag == x_resolution || tag == y_resolution || tag == resolution_unit;
    });
    const TiffField* x = field_of(found.fields, x_resolution);
    const TiffField* y = field_of(found.fields, y_resolution);
    const TiffField* unit = field_of(found.fields, resolution_unit);
    if (x == nullptr || y == nullptr) return {};
    Resolution out{.x = rational_of(*x, order), .y = rational_of(*y, order)};
    const std::uint64_t kind = unit == nullptr ? 2 : number_of(*unit, order);
    out.unit = kind == 2   ? Resolution::Unit::inch
               : kind == 3 ? Resolution::Unit::centimetre
                           : Resolution::Unit::none;
    if (!(out.x > 0) || !(out.y > 0)) return {};
    return out;
  } catch (const Error&) {
    return {};
  }
}

ThumbnailSize exif_thumbnail(std::string_view block) {
  std::string bytes(block);
  const Block b(bytes);
  if (!b.has_jpeg()) return {};
  const Size size = jpeg_size(b.jpeg());
  return {static_cast<int>(std::max(size.width, size.height)), b.jpeg().size()};
}

bool has_other_thumbnail(std::string_view block) {
  std::string bytes(block);
  const Block b(bytes);
  return b.thumbnail_directory() != 0 && exif_thumbnail(block).side == 0;
}

std::string exif_of_picture(std::string block, Size size, std::string_view thumbnail) {
  Block b(block);
  const size_t first = b.first();
  const auto width = static_cast<std::uint64_t>(size.width);
  const auto height = static_cast<std::uint64_t>(size.height);
  b.set(first, image_width, width);
  b.set(first, image_length, height);
  const size_t details = b.value(first, exif_directory);
  b.set(details, pixel_x, width);
  b.set(details, pixel_y, height);
  if (thumbnail.empty() || !b.has_jpeg()) {
    b.drop_thumbnail();
  } else {
    b.replace_thumbnail(thumbnail);
  }
  return block;
}

std::string exif_without_thumbnail(std::string block) {
  Block(block).drop_thumbnail();
  return block;
}

std::string exif_of_resolution(const Resolution& resolution) {
  constexpr bool big_endian = false;
  const double scale = resolution.unit == Resolution::Unit::metre ? 0.01 : 1;
  const auto rational = [&](std::uint16_t tag, double value) {
    const auto [over, under] = fraction_of(value * scale);
    return numbers_field(tag, 5, {over, under}, big_endian);
  };
  const std::uint64_t unit = resolution.unit == Resolution::Unit::none   ? 1
                             : resolution.unit == Resolution::Unit::inch ? 2
                                                                         : 3;
  return tiff_block(big_endian,
                    {rational(x_resolution, resolution.x), rational(y_resolution, resolution.y),
                     numbers_field(resolution_unit, 3, {unit}, big_endian)});
}

void turn_fields(std::vector<TiffField>& fields, std::vector<std::string>& lost) {
  const auto is_note = [](const TiffField& field) { return field.tag == maker_note; };
  constexpr std::string_view name = "EXIF's maker note";
  if (std::erase_if(fields, is_note) > 0 && std::ranges::find(lost, name) == lost.end()) {
    lost.emplace_back(name);
  }
  for (TiffField& field : fields) {
    const bool is_fraction = field.type == 5 || field.type == 10;
    const auto bytes = is_fraction ? 4 : static_cast<size_t>(tiff_type_bytes(field.type));
    for (size_t at = 0; at + bytes <= field.value.size() && bytes > 1; at += bytes) {
      const auto number = field.value.begin() + static_cast<std::ptrdiff_t>(at);
      std::reverse(number, number + static_cast<std::ptrdiff_t>(bytes));
    }
    turn_fields(field.children, lost);
  }
}

std::string exif_in_order(const std::string& block, bool big_endian,
                          std::vector<std::string>& lost) {
  if (block.empty() || block.starts_with(big_endian ? "MM" : "II")) return block;
  try {
    const ByteSource source(std::as_bytes(std::span(block)));
    const TiffOrder order = tiff_order(source);
    TiffFields fields = read_fields(source, order, order.first, [](auto) { return true; }).fields;
    turn_fields(fields, lost);
    return fields.empty() ? std::string() : tiff_block(big_endian, std::move(fields));
  } catch (const Error&) {
    lost.emplace_back("EXIF that cannot be read");
    return {};
  }
}

bool is_structure_tag(std::uint16_t tag) {
  // Sizes, samples, compression (fax, JPEG, LERC), strips and tiles, extremes of samples, palettes
  // and inks, YCbCr; XMP, ICC, IPTC and Photoshop's resources, which are carried by themselves.
  constexpr std::uint16_t tags[] = {
      254, 255, 256, 257, 258, 259, 262,   263,   266,   273,   277,   278,   279,   280,  281,
      284, 288, 289, 292, 293, 297, 301,   317,   320,   321,   322,   323,   324,   325,  326,
      327, 328, 330, 332, 333, 334, 336,   337,   338,   339,   340,   341,   342,   347,  400,
      401, 402, 403, 404, 405, 435, 512,   513,   514,   515,   517,   518,   519,   520,  521,
      529, 530, 531, 532, 559, 700, 32995, 32996, 32997, 32998, 33723, 34377, 34675, 50674};
  return std::ranges::find(tags, tag) != std::end(tags);
}

std::string exif_of_photographs(const std::string& block, std::vector<std::string>& lost) {
  // Those that EXIF 2.32 and its usual companions (ratings, titles for Windows, print matching) put
  // beside a photograph.
  const auto is_private = [](std::uint16_t tag) {
    constexpr std::uint16_t known[] = {33432, 34665, 34853, 50341, 59932, 59933};
    return tag >= 32768 && (tag < 40091 || tag > 40095) &&
           std::ranges::find(known, tag) == std::end(known);
  };
  const ByteSource source(std::as_bytes(std::span(block)));
  try {
    const TiffOrder order = tiff_order(source);
    TiffDirectory all = read_fields(source, order, order.first, [](auto) { return true; });
    std::string names;
    for (const TiffField& field : all.fields) {
      if (is_private(field.tag)) names += (names.empty() ? "" : " ") + std::to_string(field.tag);
    }
    if (names.empty()) return block;
    lost.push_back("TIFF tags " + names);
    std::erase_if(all.fields, [&](const TiffField& field) { return is_private(field.tag); });
    if (all.fields.empty()) return {};
    return tiff_block(order.big_endian, std::move(all.fields));
  } catch (const Error&) {
    return block;
  }
}

}  // namespace impipe::io
