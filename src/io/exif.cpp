// Changes EXIF blocks in place.
#include "io/exif.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "io/thumbnail.hpp"
#include "io/tiff_fields.hpp"

namespace impipe::io {
namespace {

enum Tag : std::uint16_t {
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
  pixel_x = 40962,
  pixel_y = 40963,
};

// A block by its directories and entries. Places are offsets in the block; 0 is none.
class Block {
 public:
  explicit Block(std::string& bytes) : bytes_(bytes), big_(bytes.starts_with("MM")) {}

  std::uint64_t number(size_t at, int bytes) const { return number_at(bytes_, at, bytes, big_); }
  size_t first() const { return number(4, 4); }
  size_t entries(size_t directory) const { return directory == 0 ? 0 : number(directory, 2); }
  size_t next_at(size_t directory) const { return directory + 2 + 12 * entries(directory); }
  size_t next(size_t directory) const { return directory == 0 ? 0 : number(next_at(directory), 4); }
  size_t entry(size_t directory, std::uint16_t tag) const {
    for (size_t i = 0; i < entries(directory); ++i) {
      const size_t at = directory + 2 + 12 * i;
      if (at + 12 > bytes_.size()) return 0;
      if (number(at, 2) == tag) return at;
    }
    return 0;
  }
  // Of a field of one whole number.
  std::uint64_t value(size_t directory, std::uint16_t tag) const {
    const size_t at = entry(directory, tag);
    if (at == 0) return 0;
    return number(at + 8, number(at + 2, 2) == 3 ? 2 : 4);
  }
  void set(size_t directory, std::uint16_t tag, std::uint64_t value) {
    const size_t at = entry(directory, tag);
    if (at == 0 || number(at + 4, 4) != 1) return;
    const bool is_short = number(at + 2, 2) == 3;
    if (!is_short && number(at + 2, 2) != 4) return;
    const bool wide = !is_short || value > 65535;
    put_number(bytes_, at + 2, wide ? 4 : 3, 2, big_);
    put_number(bytes_, at + 8, value, wide ? 4 : 2, big_);
  }
  void zero(size_t at, size_t count) {
    if (at >= bytes_.size()) return;
    std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at),
                std::min(count, bytes_.size() - at), '\0');
  }

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

 private:
  std::string& bytes_;
  bool big_;
};

}  // namespace

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
  // Enough digits for any whole number of pixels a metre in pixels an inch, and the other way
  // round.
  constexpr std::uint64_t under = 10000;
  const double scale = resolution.unit == Resolution::Unit::metre ? 0.01 : 1;
  const auto rational = [&](std::uint16_t tag, double value) {
    const auto over = static_cast<std::uint64_t>(std::llround(value * scale * under));
    return numbers_field(tag, 5, {over, under}, big_endian);
  };
  const std::uint64_t unit = resolution.unit == Resolution::Unit::none   ? 1
                             : resolution.unit == Resolution::Unit::inch ? 2
                                                                         : 3;
  std::string block = tiff_head(big_endian);
  const std::uint64_t at =
      append_directory(block, {},
                       {rational(x_resolution, resolution.x), rational(y_resolution, resolution.y),
                        numbers_field(resolution_unit, 3, {unit}, big_endian)});
  put_number(block, 4, at, 4, big_endian);
  return block;
}

bool is_structure_tag(std::uint16_t tag) {
  // Sizes, samples, compression, strips and tiles, extremes of samples, palettes and inks, YCbCr,
  // old JPEG, volumes; XMP, ICC, IPTC and Photoshop's resources, which are carried by themselves.
  constexpr std::uint16_t tags[] = {
      254, 255, 256, 257, 258, 259, 262, 263, 266,   273,   277,   278,   279,  280, 281,
      284, 292, 293, 297, 301, 317, 320, 321, 322,   323,   324,   325,   330,  332, 333,
      334, 336, 337, 338, 339, 340, 341, 342, 347,   512,   513,   514,   515,  517, 518,
      519, 520, 521, 529, 530, 531, 532, 700, 32997, 32998, 33723, 34377, 34675};
  return std::find(std::begin(tags), std::end(tags), tag) != std::end(tags);
}

std::string exif_of_photographs(const std::string& block, std::vector<std::string>& lost) {
  // Those that EXIF 2.32 and its usual companions (ratings, titles for Windows, print matching) put
  // beside a photograph.
  const auto is_private = [](std::uint16_t tag) {
    constexpr std::uint16_t known[] = {33432, 34665, 34853, 50341, 59932, 59933};
    return tag >= 32768 && (tag < 40091 || tag > 40095) &&
           std::find(std::begin(known), std::end(known), tag) == std::end(known);
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
    std::string out = tiff_head(order.big_endian);
    const std::uint64_t at =
        append_directory(out, {.big_endian = order.big_endian}, std::move(all.fields));
    put_number(out, 4, at, 4, order.big_endian);
    return out;
  } catch (const Error&) {
    return block;
  }
}

}  // namespace impipe::io
