// TIFFs in tiles: libtiff writes each level of a pyramid into a file of its own, from which the
// tiles are put together behind the directories of all.
#include "io/formats/tiff/tiff_tiles.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/bytes/tiff_fields.hpp"
#include "io/formats/tiff/tiff_blocks.hpp"
#include "io/formats/tiff/tiff_header.hpp"
#include "io/formats/tiff/tiff_metadata.hpp"
#include "io/metadata/stale_fields.hpp"
#include "io/module/module.hpp"
#include "io/module/module_call.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

enum TileTag : std::uint16_t {
  new_subfile_type = 254,
  sub_directories = 330,
  maker_note = 37500,
  gdal_no_data = 42113,
};
constexpr std::uint16_t tile_long_type = 4, tile_long8_type = 16;

// What GDAL's driver of COGs writes behind the header: readers may rely on where tiles lie.
std::string ghost_area() {
  const std::string text =
      "LAYOUT=IFDS_BEFORE_DATA\nBLOCK_ORDER=ROW_MAJOR\nBLOCK_LEADER=SIZE_AS_UINT4\n"
      "BLOCK_TRAILER=LAST_4_BYTES_REPEATED\nKNOWN_INCOMPATIBLE_EDITION=NO\n ";
  const std::string digits = std::to_string(text.size());
  return "GDAL_STRUCTURAL_METADATA_SIZE=" + std::string(6 - digits.size(), '0') + digits +
         " bytes\n" + text;
}
// A size before each tile, and its last bytes again behind it.
constexpr std::uint64_t frame_bytes = 4;

// Whether a GeoTIFF has a number that means that there is no pixel.
bool has_no_data(const Metadata& metadata) {
  if (metadata.exif.empty()) return false;
  const ByteSource block(metadata.exif);
  const TiffOrder order = tiff_order(block);
  const auto is_it = [](std::uint16_t tag) { return tag == gdal_no_data; };
  return !read_fields(block, order, order.first, is_it).fields.empty();
}

std::vector<Size> sizes_of(const TiledTiff::Image& image) {
  if (image.options.tiff_storage == TiffStorage::tiles) return {image.size};
  return pyramid_sizes(image.size, tiff_tile(image.options).width);
}

// A level's directory, and where its tiles lie in its file.
struct LevelTiles {
  ByteSource source;
  TiffOrder order;
  TiffFields fields;
  std::vector<std::uint64_t> offsets, sizes;

  std::uint64_t bytes() const {
    std::uint64_t out = 0;
    for (const std::uint64_t size : sizes) out += size + 2 * frame_bytes;
    return out;
  }
};

LevelTiles tiles_of(int file) {
  struct stat status = {};
  if (fstat(file, &status) != 0) throw system_error(errno);
  LevelTiles out{.source = ByteSource(file, status.st_size), .order = {}, .fields = {}};
  out.order = tiff_order(out.source);
  out.fields = read_fields(out.source, out.order, out.order.first, [](std::uint16_t) {
                 return true;
               }).fields;
  const TiffField& offsets = *field_of(out.fields, tile_offsets);
  for (std::uint64_t i = 0; i < offsets.count; ++i) {
    out.offsets.push_back(number_of(offsets, out.order, i));
    out.sizes.push_back(number_of(*field_of(out.fields, tile_byte_counts), out.order, i));
  }
  return out;
}

void set_field(TiffFields& fields, TiffField field) {
  std::erase_if(fields, [&](const TiffField& one) { return one.tag == field.tag; });
  fields.push_back(std::move(field));
}

// Appends a directory whose entries come first, then their values. Returns where it begins.
std::uint64_t append_entries_first(std::string& structure, const TiffOrder& order,
                                   TiffFields fields, std::uint64_t next) {
  const int offset_bytes = order.offset_bytes(), count_bytes = order.big_tiff ? 8 : 2;
  const bool big = order.big_endian;
  std::ranges::stable_sort(fields, {}, &TiffField::tag);
  const std::uint64_t begin = structure.size();
  const std::uint64_t values_begin =
      begin + static_cast<std::uint64_t>(count_bytes + offset_bytes) +
      fields.size() * (4 + 2 * static_cast<std::uint64_t>(offset_bytes));
  std::string entries = number_text(fields.size(), count_bytes, big), values;
  for (TiffField& field : fields) {
    if (values.size() % 2 != 0) values += '\0';
    if (!field.children.empty()) {
      std::string child;
      const std::uint64_t at = append_directory(child, order, std::move(field.children), 0,
                                                values_begin + values.size());
      values += child;
      field =
          numbers_field(field.tag, order.big_tiff ? tile_long8_type : tile_long_type, {at}, big);
    }
    entries += number_text(field.tag, 2, big) + number_text(field.type, 2, big) +
               number_text(field.count, offset_bytes, big);
    std::string inside = field.value;
    if (inside.size() > static_cast<size_t>(offset_bytes)) {
      inside = number_text(values_begin + values.size(), offset_bytes, big);
      values += field.value;
    }
    inside.resize(static_cast<size_t>(offset_bytes));
    entries += inside;
  }
  structure += entries + number_text(next, offset_bytes, big) + values;
  if (structure.size() % 2 != 0) structure += '\0';
  return begin;
}

// The directories of all levels, in front of the tiles, and where those of each level begin.
class Front {
 public:
  Front(std::vector<LevelTiles>& levels, bool is_cog, bool big_tiff)
      : levels_(levels), is_cog_(is_cog), order_(levels.front().order) {
    order_.big_tiff = big_tiff;
  }
  std::string make() {
    // Numbers have a fixed size: the second time they are true.
    std::vector<std::uint64_t> begins(levels_.size());
    std::string front;
    for (int pass = 0; pass < 2; ++pass) {
      std::uint64_t at = front.size();
      for (size_t i = levels_.size(); i-- > 0; at += levels_[i].bytes()) set_tiles(levels_[i], at);
      front = head();
      const std::vector<std::uint64_t> known = begins;
      for (size_t i = 0; i < levels_.size(); ++i) {
        const bool is_last = i + 1 == levels_.size();
        TiffFields fields = levels_[i].fields;
        if (i == 0 && !is_cog_ && !is_last) {
          set_field(fields, numbers_field(sub_directories, offset_type(),
                                          {known.begin() + 1, known.end()}, order_.big_endian));
        }
        begins[i] = append_entries_first(front, order_, std::move(fields),
                                         is_cog_ && !is_last ? known[i + 1] : 0);
      }
    }
    return front;
  }

 private:
  std::uint16_t offset_type() const { return order_.big_tiff ? tile_long8_type : tile_long_type; }

  std::string head() const {
    std::string out = tiff_head(order_.big_endian);
    const std::uint64_t begin = order_.big_tiff ? 16 : 8;
    if (order_.big_tiff) {
      out.resize(2);
      for (const auto number : {43, 8, 0}) {
        out += number_text(static_cast<std::uint64_t>(number), 2, order_.big_endian);
      }
    }
    out.resize(begin);
    std::string ghost = is_cog_ ? ghost_area() : "";
    if (ghost.size() % 2 != 0) ghost += '\0';
    put_number(out, static_cast<size_t>(order_.offset_bytes()), begin + ghost.size(),
               order_.offset_bytes(), order_.big_endian);
    return out + ghost;
  }

  // `at`: of the first tile's frame.
  void set_tiles(LevelTiles& level, std::uint64_t at) const {
    std::vector<std::uint64_t> places;
    for (const std::uint64_t size : level.sizes) {
      places.push_back(at + frame_bytes);
      at += size + 2 * frame_bytes;
    }
    set_field(level.fields, numbers_field(tile_offsets, offset_type(), places, order_.big_endian));
    set_field(level.fields,
              numbers_field(tile_byte_counts, offset_type(), level.sizes, order_.big_endian));
  }

  std::vector<LevelTiles>& levels_;
  const bool is_cog_;
  TiffOrder order_;
};

}  // namespace

TiledTiff::TiledTiff(const Image& image, const MakeFile& make_file)
    : image_(image),
      sizes_(sizes_of(image)),
      pyramid_(sizes_, stored_channels(image.stored),
               image.has_white && !has_no_data(image.metadata)) {
  for (const Size& size : sizes_) {
    OpenFile file = make_file();
    auto sink = from_module([&] {
      return codec_module(main_module)
          .make_rows(file.get(), image_.stored, size, tiff_tile(image_.options), image_.options);
    });
    levels_.push_back({std::move(file), std::move(sink)});
  }
}

void TiledTiff::write(const HostImage& rows) {
  const std::int64_t count = rows.size().height;
  for (std::int64_t y = 0; y < count; y += 64) write_piece(rows, y, std::min(count, y + 64));
}

void TiledTiff::write_piece(const HostImage& rows, std::int64_t y, std::int64_t y_end) {
  std::vector<HostImage> parts;
  std::vector<std::int64_t> begins;
  for (size_t i = 0; i < levels_.size(); ++i) {
    begins.push_back(pyramid_.rows_after(i, y_));
    const std::int64_t end = pyramid_.rows_after(i, y_ + y_end - y);
    parts.emplace_back(image_.stored, Size{sizes_[i].width, end - begins[i]});
  }
  const auto plane_of = [](auto& image, int channel) -> auto& {
    const auto at = static_cast<size_t>(channel);
    return at < image.planes.size() ? image.planes[at] : image.alpha;
  };
  for (int c = 0; c < stored_channels(image_.stored); ++c) {
    pyramid_.add(c, plane_of(rows, c), y, y_end,
                 [&](int level, std::int64_t row_y, const std::byte* row) {
                   const auto at = static_cast<size_t>(level);
                   Plane& plane = plane_of(parts[at], c);
                   std::copy_n(row, plane.row_bytes(), plane.row(row_y - begins[at]));
                 });
  }
  for (size_t i = 0; i < levels_.size(); ++i) {
    if (parts[i].size().height == 0) continue;
    from_module([&] {
      levels_[i].sink->write(parts[i]);
      return true;
    });
  }
  y_ += y_end - y;
}

void TiledTiff::finish(const HostImage& shown, const TakeBytes& take, Lost& lost) {
  std::vector<LevelTiles> levels;
  std::uint64_t bytes = 0;
  for (Level& level : levels_) {
    from_module([&] { return level.sink->finish(); });
    level.sink.reset();
    levels.push_back(tiles_of(level.file.get()));
    bytes += levels.back().bytes();
    if (levels.size() > 1) {
      levels.back().fields.push_back(
          numbers_field(new_subfile_type, tile_long_type, {1}, levels.back().order.big_endian));
    }
  }
  LevelTiles& first = levels.front();
  // Those of a structure with longer offsets are written anew wherever they lie.
  const TiffOrder anywhere{.big_endian = first.order.big_endian, .big_tiff = true};
  const Metadata ready =
      metadata_of_picture(image_.metadata, Format::tiff, {image_.size, shown}, lost);
  TiffAdditions more = tiff_additions(ready, anywhere, lost);
  for (TiffField& field : more.fields) {
    const auto is_note = [](const TiffField& child) { return child.tag == maker_note; };
    if (std::erase_if(field.children, is_note) > 0) lost.emplace_back("maker notes");
  }
  if (!ready.is_page) {
    describe_tiff(more.fields, read_tiff(first.source).layout, 1, axes_of_result(ready), lost);
  }
  add_fields(first.fields, std::move(more.fields));
  constexpr std::uint64_t most_classic = std::uint64_t{4000} << 20;
  const bool is_cog = image_.options.tiff_storage == TiffStorage::cog;
  const std::string front = Front(levels, is_cog, bytes > most_classic).make();
  take(std::as_bytes(std::span(front)));
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    for (size_t i = 0; i < level->sizes.size(); ++i) {
      const auto size = static_cast<std::int64_t>(level->sizes[i]);
      std::string tile = number_text(level->sizes[i], frame_bytes, false);
      tile += level->source.read(static_cast<std::int64_t>(level->offsets[i]), size);
      tile += tile.substr(tile.size() - frame_bytes);
      take(std::as_bytes(std::span(tile)));
    }
  }
}

}  // namespace impipe::io
