// Counts of tiles, and pixels between the tables that are made of them, as text.
#include <algorithm>

#include "backends/jit/measure/measure.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/placement.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 256;
constexpr int kept_counters = 65536;  // behind a lane's tickets
constexpr int max_local_bins = 2048;
// Pixels of a group: fewer would make tables that few pixels read, or counters that few are added
// to.
constexpr std::int64_t counted_pixels = 4096, looked_up_pixels = 16384;
// Pixels of a tile from which tables in local memory pay.
constexpr std::int64_t large_tile = 1024;

struct Tiles {
  int across = 1, down = 1, bins = 256;
};

// The words of an image's tiles.
class TilesText {
 public:
  TilesText(Builder& builder, const Operand& image, const Operand& self, const Tiles& tiles)
      : builder_(builder), image_(image), name_(Builder::name(self)), tiles_(tiles) {
    builder.body_once("tile_functions", filled(part(kernels::tile_tables, "functions")));
  }

  static TileGrid of(const LaunchContext& at, const Operand& image, const Tiles& tiles) {
    return tile_grid(at.size_of(image), tiles.across, tiles.down);
  }
  std::string parameter(const std::string& suffix, LaunchNumber value) {
    return builder_.integer(name_ + suffix, std::move(value));
  }
  std::string filled_part(std::string_view which, Replacements own) const {
    return words_.filled(part(kernels::tile_tables, which), own);
  }

 private:
  std::string side(const std::string& suffix, std::int64_t TileGrid::*which) {
    return parameter(suffix, [image = image_, tiles = tiles_, which](const LaunchContext& at) {
      return of(at, image, tiles).*which;
    });
  }

  Builder& builder_;
  Operand image_;
  std::string name_;
  Tiles tiles_;
  const Substitutions words_{{
      {"items", [] { return number(items); }},
      {"width", [this] { return builder_.width(image_); }},
      {"height", [this] { return builder_.height(image_); }},
      {"image", [this] { return builder_.plane(image_).pointer; }},
      {"stride", [this] { return builder_.plane(image_).stride; }},
      {"left", [this] { return side("_left", &TileGrid::left); }},
      {"top", [this] { return side("_top", &TileGrid::top); }},
      {"wide", [this] { return side("_wide", &TileGrid::wide); }},
      {"tall", [this] { return side("_tall", &TileGrid::tall); }},
      {"across", [this] { return number(tiles_.across); }},
      {"down", [this] { return number(tiles_.down); }},
      {"bins", [this] { return number(tiles_.bins); }},
      {"unroll", [this] { return builder_.unroll(); }},
      {"white", [this] { return builder_.white(image_, "double"); }},
  }};
};

std::string bin_of(Builder& builder, const Operand& image, const Tiles& tiles,
                   const std::string& value) {
  return "tile_bin((double)" + value + ", " + builder.white(image, "double") + ", " +
         number(tiles.bins - 1) + ".0)";
}

bool is_bytes(const Builder& builder, const Operand& image) {
  return bytes_of(builder.cls(image)) == 1;
}

// The strips of a tile, of so many pixels at least and no more than `most` in all tiles together.
std::int64_t strips_of(const TileGrid& grid, std::int64_t pixels, std::int64_t most) {
  const std::int64_t rows =
      std::max<std::int64_t>(1, pixels / std::max<std::int64_t>(1, grid.wide));
  return std::clamp<std::int64_t>((grid.tall + rows - 1) / rows, 1,
                                  std::max<std::int64_t>(1, most));
}

}  // namespace

void write_tile_histogram(Builder& builder, int n) {
  const Node& node = builder.node(n);
  const auto& histogram = std::get<Histogram>(node.primitive);
  const Tiles tiles{histogram.across, histogram.down, histogram.bins};
  const Operand self{false, n}, image = node.images[0];
  const std::string name = Builder::name(self);
  TilesText text(builder, image, self, tiles);
  const bool bytes = is_bytes(builder, image);
  const int counters = bytes ? 256 : tiles.bins;
  const bool in_local = counters <= max_local_bins;
  const int copies = in_local ? std::clamp<int>(8192 / counters, 1, 32) : 1;
  const std::int64_t total = node.values;
  const bool kept = !builder.tuning().stacked && total <= kept_counters;
  const std::string totals = kept ? "(" + builder.ticket() + " + " + number(ticket_words) + ")"
                                  : builder.scratch(
                                        name + "_totals", "uint",
                                        [total](const LaunchContext&) { return 4 * total; }, true);
  const std::int64_t most = (4 * builder.tuning().processors + tiles.across * tiles.down - 1) /
                            (std::int64_t{tiles.across} * tiles.down);
  const auto strips = [image, tiles, most](const LaunchContext& at) {
    return strips_of(TilesText::of(at, image, tiles), counted_pixels, most);
  };
  const auto rows = [image, tiles, strips](const LaunchContext& at) {
    return (TilesText::of(at, image, tiles).tall + strips(at) - 1) / strips(at);
  };
  const std::string pixel = builder.value(image, "x", "y");
  const std::string bin = bin_of(builder, image, tiles, pixel);
  const std::string place = bytes ? "(int)" + pixel : bin;
  const std::string tile = "tile * " + number(tiles.bins) + " + ";
  const std::string count_pixel =
      in_local ? statement("ADD_LOCAL(&counts[" + place + " * " + number(copies) + " + copy], 1u)")
               : statement("ADD_GLOBAL(&" + totals + "[" + tile + place + "], 1u)");
  const std::string inside =
      bytes ? text.filled_part("bytes_inside", {{"count", each_code_of_chunk(copies)},
                                                {"count_pixel", count_pixel}})
            : text.filled_part("wide_inside", {{"count_pixel", count_pixel}});
  builder.kernel(
      name + "_counts_of_tiles", items,
      text.filled_part("counts", {{"counters", number(counters)},
                                  {"copies", number(copies)},
                                  {"in_local", in_local ? "1" : "0"},
                                  {"strips", text.parameter("_strips", strips)},
                                  {"rows", text.parameter("_rows", rows)},
                                  {"bin", bytes ? bin_of(builder, image, tiles, "i") : "i"},
                                  {"pixels_inside", inside},
                                  {"count_pixel", count_pixel},
                                  {"totals", totals}}),
      [strips, tiles](const LaunchContext& at) {
        return LaunchShape{{tiles.across, tiles.down * strips(at), 1}, {items, 1, 1}};
      });
  builder.kernel(name + "_as_doubles", items,
                 text.filled_part("as_doubles", {{"total", number(total)},
                                                 {"kept", kept ? "1" : "0"},
                                                 {"totals", totals},
                                                 {"out", builder.measure(self)}}),
                 launch_groups((total + items - 1) / items, items));
}

void write_between_tables(Builder& builder, int n) {
  const Node& node = builder.node(n);
  const auto& between = std::get<BetweenTables>(node.primitive);
  const Tiles tiles{between.across, between.down, between.bins};
  const Operand self{false, n}, image = node.images[0];
  const std::string name = Builder::name(self);
  TilesText text(builder, image, self, tiles);
  const Argument& first = node.arguments.back();
  const std::string tables =
      "(" + builder.measure(node.measures.at(static_cast<std::size_t>(first.measure))) + " + " +
      number(first.element) + ")";
  const bool bytes = is_bytes(builder, image) && is_bytes(builder, self);
  // Sums of products fit 32 bits.
  const auto by_cells = [bytes, image, tiles](const LaunchContext& at) {
    const TileGrid grid = TilesText::of(at, image, tiles);
    const std::int64_t area = grid.wide * grid.tall;
    return bytes && area >= large_tile && area <= 0x7fffffff / 255;
  };
  const auto strips = [image, tiles](const LaunchContext& at) {
    const TileGrid grid = TilesText::of(at, image, tiles);
    return strips_of(grid, looked_up_pixels, grid.tall);
  };
  const auto rows = [image, tiles, strips](const LaunchContext& at) {
    return (TilesText::of(at, image, tiles).tall + strips(at) - 1) / strips(at);
  };
  if (bytes) {
    const bool logical = builder.cls(self) == PixelClass::logical;
    builder.kernel(
        name + "_cells", items,
        text.filled_part("between", {{"tables", tables},
                                     {"strips", text.parameter("_strips", strips)},
                                     {"rows", text.parameter("_rows", rows)},
                                     {"code_bin", bin_of(builder, image, tiles, "code")},
                                     {"made", logical ? "(sum != 0u ? 1u : 0u)"
                                                      : "rounded_quotient(sum, area, part)"},
                                     {"result", builder.plane(self).pointer},
                                     {"to_stride", builder.plane(self).stride}}),
        [by_cells, strips, tiles](const LaunchContext& at) {
          const std::int64_t across = by_cells(at) ? tiles.across + 1 : 0;
          return LaunchShape{{across, (tiles.down + 1) * strips(at), 1}, {items, 1, 1}};
        });
  }
  builder.pixel_kernel(
      name + "_pixels", builder.width(self), builder.height(self),
      [image, by_cells](const LaunchContext& at) {
        return by_cells(at) ? Size{} : at.size_of(image);
      },
      text.filled_part("between_pixel",
                       {{"tables", tables},
                        {"value", builder.value(image, "x", "y")},
                        {"out", builder.plane(self).pixel()},
                        {"converted", converted(builder.cls(self), "double", "between")}}));
}

}  // namespace impipe::jit
