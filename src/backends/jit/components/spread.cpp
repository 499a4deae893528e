// What spreads on a GPU: gray reconstruction, gray holes, canny's hysteresis (decisions/0011).
//
// Gray reconstruction gives each pixel the largest value with which it can be reached from a
// source: over an edge of weight `marker` from there to any pixel, and edges of weight
// min(mask, mask) between neighbours; a way is worth its lightest edge. The heaviest spanning tree
// has such a way for every pixel. It grows as Boruvka's does: each component takes the heaviest
// edge that leaves it, so that there are at most half as many after each round, whatever the
// picture. A component that took an edge of the source, or of one that has a way to it, is done.
// Every pixel that ever spoke for a component keeps the weight of its edge and the pixel that
// speaks for the other end; the result is the least weight on the way up.
#include <algorithm>
#include <bit>

#include "backends/jit/components/label.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "core/backend.hpp"

namespace impipe::jit {
namespace {

using Kind = Label::Kind;

// Rounds that more pixels than a device holds would take.
constexpr int most_rounds = 30;
// Those from this one on have little or nothing left to do, and few groups: launching them takes
// time.
constexpr int late_rounds = 10;

class SpreadWriter : LabelWriterBase {
 public:
  SpreadWriter(Builder& to, int n) : LabelWriterBase(to, n) {}

  void run() {
    if (is(Kind::reach)) {
      add("_reach", "reach");
      add("_reached", "reached");
      return;
    }
    to_.body_once("spread_functions", part(kernels::spread, "functions"));
    if (scans()) add_tiles("_scan", "scan", 64, {64, 60});
    add("_first", "first");
    add_tiles("_tiles", "link_tiles", items, {64, 64});
    add("_follow_first", "follow");
    add("_weigh", "weigh");
    add("_choose", "choose");
    add("_link", "link");
    add("_follow", "follow");
    const int groups = to_.tuning().groups_at_once();
    to_.repeat(4, most_rounds, [image = image_, groups](const LaunchContext& at, int time) {
      const Size size = at.size_of(image);
      // The first round, and the one that is there already.
      const int rounds = std::bit_width(static_cast<std::uint64_t>(size.pixels())) - 2;
      if (time >= rounds) return LaunchShape{{0, 0, 0}, {1, 1, 1}};
      return down_columns(size, time < late_rounds ? groups : groups / 4);
    });
    add("_spread", "spread");
  }

 private:
  // The source of holes is the image's border: few tiles have any of it.
  bool scans() const { return !holes(); }
  bool holes() const { return is(Kind::holes); }
  bool single() const { return node_.cls == PixelClass::single; }

  // A whole number for the pixel, in the order of what spreads.
  std::string key(const Operand& image) {
    const std::string value = to_.value(image, "(x)", "(y)");
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
    if (reads("CODE(")) {
      out += "#define CODE(x, y) " + to_.value(image_, "(x)", "(y)") + "\n";
    }
    if (reads("MASK(") || reads("SEED(")) {
      out += "#define MASK(x, y) (" + key(holes() ? image_ : node_.images[1]) + ")\n";
    }
    if (reads("SEED(") && holes()) {
      out +=
          "#define SEED(x, y) ((x) == 0 || (y) == 0 || (x) == $width - 1 || (y) == $height - 1 "
          "? MASK(x, y) : 0u)\n";
    } else if (reads("SEED(")) {
      out += "#define MARKER(x, y) (" + key(image_) +
             ")\n#define SEED(x, y) (MARKER(x, y) < MASK(x, y) ? MARKER(x, y) : MASK(x, y))\n";
    }
    return out;
  }

  // One number a pixel.
  std::string pixels_of(const char* suffix) {
    return to_.scratch(name_ + suffix, "uint", [image = image_](const LaunchContext& at) {
      const Size size = at.size_of(image);
      if (size.pixels() > std::int64_t{1} << 30) {
        throw OutOfDeviceMemory("label: " + to_string(size) + " is too large for this device");
      }
      return 4 * size.pixels();
    });
  }

  // The four ways of a tile's work-items over its lines.
  std::string scan_ways() const {
    const std::string row = "(ITEM + 1) * 67";
    const std::string line = part(kernels::spread, "line");
    const auto way = [&line, this](const std::string& first, const char* first_mask,
                                   const char* step, const char* step_mask, bool along_rows) {
      return filled(line, {{"corners", label_.connectivity == 8 ? "1" : "0"},
                           {"first", first},
                           {"first_mask", first_mask},
                           {"step", step},
                           {"step_mask", step_mask},
                           {"lines", along_rows ? "60" : "64"},
                           {"count", along_rows ? "64" : "60"},
                           {"beside", along_rows ? "67" : "1"}});
    };
    return way("67 + ITEM + 1", "ITEM", "67", "65", false) +
           way("60 * 67 + ITEM + 1", "59 * 65 + ITEM", "-67", "-65", false) +
           way(row + " + 1", "ITEM * 65", "1", "1", true) +
           way(row + " + 64", "ITEM * 65 + 63", "-1", "-1", true);
  }

  std::string text_of(const char* kernel) {
    std::string text = words_.filled(part(kernels::spread, kernel));
    const std::string read = words_.filled(reading(text));
    text.insert(comment_length(text), read);
    for (const char* word : {"CODE", "MASK", "MARKER", "SEED"}) {
      if (read.find(std::string("#define ") + word + "(") != std::string::npos) {
        text += std::string("#undef ") + word + "\n";
      }
    }
    return text;
  }

  // A group a tile.
  void add_tiles(const std::string& suffix, const char* kernel, int group, Size tile) {
    to_.kernel(name_ + suffix, group, text_of(kernel),
               [image = image_, group, tile](const LaunchContext& at) {
                 const Size size = at.size_of(image);
                 return LaunchShape{{(size.width + tile.width - 1) / tile.width,
                                     (size.height + tile.height - 1) / tile.height, 1},
                                    {group, 1, 1}};
               });
  }

  // Of work-items that go down some rows of a column each.
  static LaunchShape down_columns(Size size, int most_groups) {
    const std::int64_t across = (size.width + items - 1) / items;
    const std::int64_t down = std::max<std::int64_t>(1, most_groups / across);
    return LaunchShape{{across, std::min(size.height, down), 1}, {items, 1, 1}};
  }

  void add(const std::string& suffix, const char* kernel) {
    to_.kernel(name_ + suffix, items, text_of(kernel),
               [image = image_, groups = to_.tuning().groups_at_once()](const LaunchContext& at) {
                 return down_columns(at.size_of(image), groups);
               });
  }

  const Words words_ = with_common({
      {"corners", [this] { return label_.connectivity == 8 ? "1" : "0"; }},
      {"line", [this] { return scan_ways(); }},
      {"code", [this] { return single() ? "uint" : "ushort"; }},
      {"doublings", [] { return "3"; }},
      {"own_seed", [this] { return scans() ? "$seeds[pixel]" : "SEED(x, y)"; }},
      {"skip",
       [this] {
         return label_.connectivity == 8 ? "(dx == 0 && dy == 0)" : "(dx == 0) == (dy == 0)";
       }},
      // The work-item that speaks for all.
      {"spokesman", [] { return "GROUP_X == 0 && GROUP_Y == 0 && ITEM == 0"; }},
      // Beside the number of a pixel.
      {"done", [] { return "0x80000000u"; }},
      {"inner", [] { return "0x40000000u"; }},
      {"state",
       [this] {
         return to_.scratch(name_ + "_state", "uint", [](const LaunchContext&) { return 8; });
       }},
      {"marks",
       [this] {
         return to_.scratch(
             name_ + "_marks", "uint",
             [image = image_](const LaunchContext& at) {
               return (at.size_of(image).pixels() + 31) / 32 * 4;
             },
             true);
       }},
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

void write_spread(Builder& to, int n) { SpreadWriter(to, n).run(); }

}  // namespace impipe::jit
