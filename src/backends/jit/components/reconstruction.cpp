// What spreads on a GPU: gray reconstruction, gray holes, canny's hysteresis (decisions/0011).
//
// Gray reconstruction gives each pixel the largest value with which it can be reached from a
// source: over an edge of weight `marker` from there to any pixel, and edges of weight
// min(mask, mask) between neighbours; a way is worth its lightest edge. The heaviest spanning tree
// has such a way for every pixel. It grows as Boruvka's does: each component takes the heaviest
// edge that leaves it, so that there are at most half as many after each round, whatever the
// picture. A component that took an edge of the source, or of one that has a way to it, is done.
// Every former root stores the weight of its edge and the root at the edge's other end; the result
// is the least weight on the path up.
#include <algorithm>
#include <bit>

#include "backends/jit/components/label.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "core/backend.hpp"

namespace impipe::jit {
namespace {

using Kind = Label::Kind;

// Rounds that more pixels than a device holds would take.
constexpr int max_rounds = 30;
// Those from this one on have little or nothing left to do, and few groups: launching them takes
// time.
constexpr int late_rounds = 10;
// Groups of a processor that raise tiles.
constexpr int raised_at_once = 4;

class ReconstructionWriter : LabelWriterBase {
 public:
  ReconstructionWriter(Builder& builder, int n) : LabelWriterBase(builder, n) {}

  void run() {
    if (is(Kind::reach)) {
      write_reach();
      return;
    }
    builder_.body_once("spread_functions", filled(part(kernels::reconstruction, "functions")));
    write_raised();
    add("_first", "first");
    add_tiles("_tiles", text_of("link_tiles"), items, {64, 64});
    add("_follow_first", "follow");
    add("_weigh", "weigh");
    add("_choose", "choose");
    add("_link", "link");
    add("_follow", "follow");
    const int groups = builder_.tuning().groups_at_once();
    builder_.repeat(4, max_rounds, [image = image_, groups](const LaunchContext& at, int time) {
      const Size size = at.size_of(image);
      // The first round, and the one that is there already.
      const int rounds = std::bit_width(static_cast<std::uint64_t>(size.pixels())) - 2;
      if (time >= rounds) return LaunchShape{{0, 0, 0}, {1, 1, 1}};
      return down_columns(size, time < late_rounds ? groups : groups / 4);
    });
    add("_spread", "spread");
  }

 private:
  bool holes() const { return is(Kind::holes); }
  bool single() const { return node_.cls == PixelClass::single; }

  // Few edges lead through more tiles than these rounds go through; the last kernel goes after
  // those, pixel by pixel.
  void write_reach() {
    builder_.body_once("reach_functions", filled(part(kernels::reconstruction, "reach_functions")));
    add_tiles("_tiles", text_of("reach_tile", {{"begins", "1"}}), 64, {64, 64});
    add_tiles("_tiles_again", text_of("reach_tile", {{"begins", "0"}}), 64, {64, 64});
    builder_.repeat(1, 2);
    add("_reach", "reach");
    builder_.kernel(name_ + "_reached", items, text_of("reached"),
                    launch_items(
                        [image = image_](const auto& at) {
                          const Size size = at.size_of(image);
                          return (size.width + 15) / 16 * size.height;
                        },
                        items));
  }
  // A bit a pixel, in whole tiles of 64x64.
  std::string bits_of(const char* suffix, bool zero) {
    return builder_.scratch(
        name_ + suffix, "uint",
        [image = image_](const LaunchContext& at) {
          const Size size = at.size_of(image);
          return (size.width + 63) / 64 * ((size.height + 63) / 64) * (64 * 64 / 8);
        },
        zero);
  }

  // A whole number for the pixel, in the order of what spreads.
  std::string key(const Operand& image) {
    const std::string value = builder_.value(image, "(x)", "(y)");
    if (single()) return "key_of_float(" + (holes() ? "0.0f - " + value : value) + ")";
    return holes() ? std::to_string(class_code()) + "u - (uint)" + value : "(uint)" + value;
  }
  std::uint32_t class_code() const { return node_.cls == PixelClass::uint16 ? 65535u : 255u; }
  std::string result() const {
    if (single()) return holes() ? "0.0f - float_of_key(value)" : "float_of_key(value)";
    return "(" + type_of(node_.cls) + ")" +
           (holes() ? "(" + std::to_string(class_code()) + "u - value)" : "value");
  }

  // What a text reads of its images.
  std::string reading(const std::string& text) {
    const auto reads = [&](const char* what) { return text.find(what) != std::string::npos; };
    std::string out;
    if (reads("CODE(")) out += defined("CODE(x, y)", builder_.value(image_, "(x)", "(y)"));
    if (reads("MASK(") || reads("SEED(")) {
      out += defined("MASK(x, y)", "(" + key(holes() ? image_ : node_.images[1]) + ")");
    }
    if (reads("SEED(") && holes()) {
      out += defined("SEED(x, y)",
                     "((x) == 0 || (y) == 0 || (x) == $width - 1 || (y) == $height - 1 "
                     "? MASK(x, y) : 0u)");
    } else if (reads("SEED(")) {
      out += defined("MARKER(x, y)", "(" + key(image_) + ")") +
             defined("SEED(x, y)", "(MARKER(x, y) < MASK(x, y) ? MARKER(x, y) : MASK(x, y))");
    }
    if (reads("RAISED(")) {
      out += defined(
          "RAISED(x, y)",
          "(uint)*(GLOBAL volatile $code*)($raised + (uint)(y) * (uint)$width + (uint)(x))");
    }
    return out;
  }

  // The type of such a number in tiles.
  std::string code() const { return single() ? "uint" : type_of(node_.cls); }

  // One number a pixel.
  std::string pixels_of(const char* suffix) {
    return builder_.scratch(name_ + suffix, "uint", [image = image_](const LaunchContext& at) {
      const Size size = at.size_of(image);
      if (size.pixels() > std::int64_t{1} << 30) {
        throw OutOfDeviceMemory("label: " + to_string(size) + " is too large for this device");
      }
      return 4 * size.pixels();
    });
  }

  // What the tree begins with.
  void write_raised() {
    const Size tile{64, tile_rows()};
    const bool raises = builder_.features().tile_queues;
    if (raises || holes()) {  // the holes' source is the border: few tiles have any of it
      add_tiles("_begin", text_of("begin", {{"raises", raises ? "1" : "0"}}), 256, tile);
    } else {
      add_tiles("_scan", text_of("scan", {{"line", scan_ways()}}), 64, {64, 60});
    }
    if (raises) write_raising();
  }

  // The propagation depth of the worklist of active tiles is bounded by somewhat more than the
  // tiles from side to side; longer paths are left to the tree, which begins with the raised
  // values.
  void write_raising() {
    const std::string text = text_of(
        "raise",
        {{"quarters", all_lines()}, {"max_depth", max_depth()}, {"unroll", builder_.unroll()}});
    const ShapeFunction shape = [image = image_, rows = tile_rows(),
                                 groups = raised_at_once *
                                          builder_.tuning().processors](const auto& at) {
      return LaunchShape{{std::min<std::int64_t>(tiles_of(at.size_of(image), rows), groups), 1, 1},
                         {256, 1, 1}};
    };
    builder_.kernel(name_ + "_raise", 256, text, shape, raised_at_once);
  }
  std::string max_depth() {
    return "(uint)" + builder_.of_size(name_ + "_max_depth", image_, [rows = tile_rows()](Size s) {
      return 32 + std::max(s.width / 64, s.height / rows);
    });
  }

  // The four ways of a tile's work-items over its lines.
  std::string scan_ways() const {
    const std::string row = "(ITEM + 1) * 67";
    const Part& line = part(kernels::reconstruction, "line");
    const auto way = [&line, this](const std::string& start, const char* start_mask,
                                   const char* stride, const char* stride_mask, bool along_rows) {
      return words_.filled(line, {{"start", start},
                                  {"start_mask", start_mask},
                                  {"stride", stride},
                                  {"stride_mask", stride_mask},
                                  {"scanned", along_rows ? "60" : "64"},
                                  {"pixels", along_rows ? "64" : "60"},
                                  {"next_line", along_rows ? "67" : "1"}});
    };
    return way("67 + ITEM + 1", "ITEM", "67", "65", false) +
           way("60 * 67 + ITEM + 1", "59 * 65 + ITEM", "-67", "-65", false) +
           way(row + " + 1", "ITEM * 65", "1", "1", true) +
           way(row + " + 64", "ITEM * 65 + 63", "-1", "-1", true);
  }

  // A quarter of a line of a tile's columns is a quarter of these.
  std::int64_t tile_rows() const { return single() ? 52 : 64; }
  // Lines side by side and one behind the other lie in different banks.
  std::string pitch() const {
    return node_.cls == PixelClass::uint8 ? "68" : single() ? "67" : "66";
  }

  // A word a tile.
  std::string words_of_tiles(const char* suffix) {
    return builder_.scratch(name_ + suffix, "uint",
                            [image = image_, rows = tile_rows()](const LaunchContext& at) {
                              return 4 * tiles_of(at.size_of(image), rows);
                            });
  }

  // The kinds of lines: columns, rows and, where corners touch, both kinds of diagonals. These go
  // on at the other side.
  std::string all_lines() const {
    const Part& lines = part(kernels::reconstruction, "quarters");
    const std::string count = std::to_string(tile_rows() / 4), rows = std::to_string(tile_rows());
    const std::string y = "(quarter * " + count + " + k)";
    const auto down = [&](const std::string& x, const std::string& step, const std::string& first,
                          const std::string& last, const char* from, const char* to) {
      return words_.filled(lines, {{"lines", "64"},
                                   {"count", count},
                                   {"place", "(" + y + " + 1) * $pitch + " + x + " + 1"},
                                   {"mask_place", y + " * $mask_pitch + " + x},
                                   {"step", step},
                                   {"first", first},
                                   {"last", "(" + rows + " + 1) * $pitch + " + last},
                                   {"wraps", *from != '\0' ? "1" : "0"},
                                   {"wraps_on", x + " == " + from},
                                   {"wraps_back", x + " == " + to}});
    };
    std::string out = down("line", "$pitch", "line + 1", "line + 1", "", "") +
                      words_.filled(lines, {{"lines", rows},
                                            {"count", "16"},
                                            {"place", "(line + 1) * $pitch + quarter * 16 + k + 1"},
                                            {"mask_place", "line * $mask_pitch + quarter * 16 + k"},
                                            {"step", "1"},
                                            {"first", "(line + 1) * $pitch"},
                                            {"last", "(line + 1) * $pitch + 65"},
                                            {"wraps", "0"},
                                            {"wraps_on", ""},
                                            {"wraps_back", ""}});
    if (label_.connectivity == 8) {
      out += down("(line + " + y + " & 63)", "$pitch + 1", "line",
                  "(line + " + rows + " - 1 & 63) + 2", "0", "63") +
             down("(line - " + y + " & 63)", "$pitch - 1", "line + 2",
                  "(line - " + rows + " + 1 & 63)", "63", "0");
    }
    return out;
  }

  static std::int64_t tiles_of(Size size, std::int64_t rows) {
    return (size.width + 63) / 64 * ((size.height + rows - 1) / rows);
  }
  std::string tiles() {
    return builder_.of_size(name_ + "_tiles", image_,
                            [rows = tile_rows()](Size size) { return tiles_of(size, rows); });
  }

  std::string text_of(const char* kernel, Replacements own = {}) {
    std::string text = words_.filled(part(kernels::reconstruction, kernel), own);
    const std::string read = words_.filled(reading(text));
    text.insert(comment_length(text), read);
    for (const char* word : {"CODE", "MASK", "MARKER", "SEED", "RAISED"}) {
      if (read.find(std::string("#define ") + word + "(") != std::string::npos) {
        text += undefined(word);
      }
    }
    return text;
  }

  // A group a tile.
  void add_tiles(const std::string& suffix, const std::string& text, int group, Size tile,
                 int groups_at_once = 0) {
    builder_.kernel(name_ + suffix, group, text,
                    launch_tiles(image_, tile.width, tile.height, group), groups_at_once);
  }

  // Of work-items that go down some rows of a column each.
  static LaunchShape down_columns(Size size, int max_groups) {
    const std::int64_t across = (size.width + items - 1) / items;
    const std::int64_t down = std::max<std::int64_t>(1, max_groups / across);
    return LaunchShape{{across, std::min(size.height, down), 1}, {items, 1, 1}};
  }

  void add(const std::string& suffix, const char* kernel) {
    builder_.kernel(
        name_ + suffix, items, text_of(kernel),
        [image = image_, groups = builder_.tuning().groups_at_once()](const LaunchContext& at) {
          return down_columns(at.size_of(image), groups);
        });
  }

  const Substitutions words_ = with_common({
      {"corners", [this] { return label_.connectivity == 8 ? "1" : "0"; }},
      {"code", [this] { return code(); }},
      {"rows", [this] { return std::to_string(tile_rows()); }},
      {"pitch", [this] { return pitch(); }},
      {"mask_pitch", [this] { return single() ? "65" : pitch(); }},
      // Eight times along lines of some kind.
      {"turns", [this] { return label_.connectivity == 8 ? "2" : "4"; }},
      {"kinds", [this] { return label_.connectivity == 8 ? "4" : "2"; }},
      {"tiles", [this] { return tiles(); }},
      {"queue", [this] { return words_of_tiles("_queue"); }},
      {"woken", [this] { return words_of_tiles("_woken"); }},
      {"depths", [this] { return words_of_tiles("_depths"); }},
      {"raised",
       [this] {
         return builder_.scratch(
             name_ + "_raised", code(),
             [image = image_, bytes = bytes_of(node_.cls)](const LaunchContext& at) {
               return bytes * at.size_of(image).pixels();
             });
       }},
      {"skip",
       [this] {
         return label_.connectivity == 8 ? "(dx == 0 && dy == 0)" : "(dx == 0) == (dy == 0)";
       }},
      {"state",
       [this] {
         return builder_.scratch(name_ + "_state", "uint", [](const LaunchContext&) { return 24; });
       }},
      {"marks", [this] { return bits_of("_marks", false); }},
      {"codes", [this] { return builder_.plane(image_).row("y"); }},
      {"to_row", [this] { return builder_.plane(self_).row("y"); }},
      {"entering", [this] { return bits_of("_entering", true); }},
      {"seeds", [this] { return pixels_of("_seeds"); }},
      {"weights", [this] { return pixels_of("_weights"); }},
      {"edges", [this] { return pixels_of("_edges"); }},
      {"forest", [this] { return pixels_of("_forest"); }},
      {"components", [this] { return pixels_of("_components"); }},
      {"next", [this] { return pixels_of("_next"); }},
      {"value", [this] { return result(); }},
  });
};

}  // namespace

void write_reconstruction(Builder& builder, int n) { ReconstructionWriter(builder, n).run(); }

}  // namespace impipe::jit
