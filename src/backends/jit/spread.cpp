// Values that spread over the image until nothing changes, as text: gray reconstruction, holes of
// gray images, canny's hysteresis.
//
// A tile spreads inside local memory until it is stable, and wakes the neighbours whose borders it
// changed. A number of launches go over all tiles that are awake; a last one of a single group goes
// on until none is, so that no launch ever waits for another and nothing is read back.
// docs/decisions/0011-connected-pixels.md
#include <algorithm>

#include "backends/jit/dialect.hpp"
#include "backends/jit/label.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/text.hpp"

namespace impipe::jit {
namespace {

using Kind = Label::Kind;

constexpr int items = 128;
constexpr int side = 32;  // of a tile

// One tile with a frame of one pixel. state: what changed in this step, and ever: 1 anything, 2 a
// pixel of the left side, 4 of the right, 8 of the upper, 16 of the lower one.
constexpr const char* tile_function = R"(
FUNCTION_APART void $name_put(IN_LOCAL $type* values, IN_LOCAL int* state, const int i,
                              const $type v) {
  const int sides = (i % 34 == 1 ? 2 : 0) | (i % 34 == 32 ? 4 : 0) | (i / 34 == 1 ? 8 : 0) |
                    (i / 34 == 32 ? 16 : 0) | 1;
  IN_LOCAL volatile int* known = state;
  values[i] = v;
  if ((*known & sides) != sides) OR_LOCAL(state, sides);
}
FUNCTION void $name_tile(GIVEN, IN_LOCAL $type* values, IN_LOCAL $type* limits, IN_LOCAL int* state,
                         const int tile_x, const int tile_y, GLOBAL uint* awake) {
  for (int i = ITEM; i < 34 * 34; i += $items) {
    const int x = tile_x * 32 + i % 34 - 1, y = tile_y * 32 + i / 34 - 1;
    const bool inside = x >= 0 && y >= 0 && x < $width && y < $height;
    values[i] = inside ? ($type)$out : $lowest;
    limits[i] = inside ? $limit : $lowest;
  }
  if (ITEM == 0) state[1] = 0;
  do {
    BARRIER;
    if (ITEM == 0) state[0] = 0;
    BARRIER;
$scan    for (int k = ITEM; k < 32 * 32; k += $items) {
      const int i = (k / 32 + 1) * 34 + k % 32 + 1;
$spread    }
    BARRIER;
    if (ITEM == 0) state[1] |= state[0];
  } while (state[0] != 0);
  BARRIER;
  if (state[1] != 0) {
    for (int k = ITEM; k < 32 * 32; k += $items) {
      const int x = tile_x * 32 + k % 32, y = tile_y * 32 + k / 32;
      if (x < $width && y < $height) $out = ($pixel)values[(k / 32 + 1) * 34 + k % 32 + 1];
    }
    if (ITEM < 9 && ITEM != 4) {
      const int dx = ITEM % 3 - 1, dy = ITEM / 3 - 1;
      const int sides = (dx < 0 ? 2 : 0) | (dx > 0 ? 4 : 0) | (dy < 0 ? 8 : 0) | (dy > 0 ? 16 : 0);
      const int x = tile_x + dx, y = tile_y + dy;
      if ((state[1] & sides) == sides && x >= 0 && y >= 0 && x < $across && y < $along) {
        awake[y * $across + x] = 1u;
      }
    }
  }
}
)";

// Along rows and columns in both directions: a work-item a line.
constexpr const char* scan = R"(    {
      const int line = ITEM % 32 + 1, way = ITEM / 32;
      const int step = way == 0 ? 1 : way == 1 ? -1 : way == 2 ? 34 : -34;
      int i = way < 2 ? line * 34 + (way == 0 ? 0 : 33) : line + (way == 2 ? 0 : 33 * 34);
      $type carried = values[i];
      for (int k = 0; k < 32; ++k) {
        i += step;
        const $type own = values[i], limit = limits[i];
        const $type most = carried < limit ? carried : limit;
        if (most > own) $name_put(values, state, i, most);
        carried = most > own ? most : own;
      }
    }
    BARRIER;
)";

constexpr const char* spread_values = R"(      $type most = values[i];
      for (int d = 0; d < 9; ++d) {
        const int dx = d % 3 - 1, dy = d / 3 - 1;
        if (!$corners && dx != 0 && dy != 0) continue;
        const $type v = values[i + dy * 34 + dx];
        most = v > most ? v : most;
      }
      most = most < limits[i] ? most : limits[i];
      if (most > values[i]) $name_put(values, state, i, most);
)";

// limits: the codes. Of the two neighbours on each of the four lines, one that is an edge and
// leads along that line.
constexpr const char* spread_edges = R"(      if (limits[i] <= 0 || values[i] != 0) continue;
      for (int d = 0; d < 8; ++d) {
        const int line = d / 2, sign = d % 2 * 2 - 1;
        const int from = i + sign * (line == 0 ? 34 : line == 1 ? 35 : line == 2 ? 1 : -33);
        if (values[from] > 0 && (limits[from] - 1) % 4 == line) {
          $name_put(values, state, i, 1);
          break;
        }
      }
)";

constexpr const char* step_kernel = R"(  LOCAL $type values[34 * 34];
  LOCAL $type limits[34 * 34];
  LOCAL int state[2];
  LOCAL int runs;
  if (ITEM == 0) {
    GLOBAL uint* own = &$from[GROUP_Y * $across + GROUP_X];
    runs = (int)*own;
    *own = 0u;
  }
  BARRIER;
  if (runs == 0) return;
  $name_tile(GIVE, values, limits, state, GROUP_X, GROUP_Y, $to);
)";

constexpr const char* finish_kernel = R"(  LOCAL $type values[34 * 34];
  LOCAL $type limits[34 * 34];
  LOCAL int state[2];
  LOCAL uint awake[$items];
  LOCAL uint any;
  const int tiles = $across * $along;
  do {
    GLOBAL_BARRIER;
    if (ITEM == 0) any = 0u;
    BARRIER;
    for (int first = 0; first < tiles; first += $items) {
      BARRIER;
      awake[ITEM] = first + ITEM < tiles ? $from[first + ITEM] : 0u;
      if (awake[ITEM] != 0u) {
        $from[first + ITEM] = 0u;
        any = 1u;
      }
      GLOBAL_BARRIER;
      for (int k = 0; k < $items; ++k) {
        if (awake[k] == 0u) continue;
        $name_tile(GIVE, values, limits, state, (first + k) % $across, (first + k) / $across, $from);
        GLOBAL_BARRIER;
      }
    }
    GLOBAL_BARRIER;
  } while (any != 0u);
)";

class SpreadWriter {
 public:
  SpreadWriter(Builder& to, int n)
      : to_(to),
        node_(to.node(n)),
        label_(std::get<Label>(node_.primitive)),
        self_{false, n},
        image_(node_.images[0]),
        name_(Builder::name(self_)),
        single_(to.cls(image_) == PixelClass::single),
        reach_(label_.kind == Kind::reach) {}

  void run() {
    write_start();
    to_.function(name_ + "_tile", text(tile_text()));
    const auto step = [&](const std::string& suffix, const std::string& from,
                          const std::string& next) {
      to_.call(name_ + "_tile", "0", "0", "0");
      to_.kernel(name_ + suffix, items,
                 text(with(with(step_kernel, "$from", tiles(from)), "$to", tiles(next))),
                 [image = image_](const LaunchContext& at) {
                   const Size size = at.size_of(image);
                   return LaunchShape{
                       {(size.width + side - 1) / side, (size.height + side - 1) / side, 1},
                       {items, 1, 1}};
                 });
    };
    step("_step", "_awake", "_next");
    step("_step_back", "_next", "_awake");
    // As many as lead through the image straight; hysteresis rarely goes far.
    const int most = reach_ ? 8 : 64;
    to_.repeat(2, most, [image = image_](const LaunchContext& at) {
      const Size size = at.size_of(image);
      return static_cast<int>((size.width + size.height) / side / 2);
    });
    to_.call(name_ + "_tile", "0", "0", "0");
    to_.kernel(name_ + "_finish", items, text(with(finish_kernel, "$from", tiles("_awake"))),
               [](const LaunchContext&) {
                 return LaunchShape{{1, 1, 1}, {items, 1, 1}};
               });
    if (reach_ || (label_.kind == Kind::reconstruct && !single_)) return;
    const std::string out = to_.plane(self_).pixel();
    // Which of two equal zeros was taken is nobody's business.
    pixels("_end",
           out + " = " + (label_.kind == Kind::holes ? turned(out) : out + " + 0.0f") + ";");
  }

 private:
  static std::string with(std::string_view text, std::string_view what, std::string_view by) {
    std::string out(text);
    for (std::size_t at = 0; (at = out.find(what, at)) != std::string::npos; at += by.size()) {
      out.replace(at, what.size(), by);
    }
    return out;
  }

  std::string type() const { return single_ ? "float" : "int"; }
  std::string lowest() const { return single_ ? "-INFINITY" : "-1"; }
  // The smallest becomes the largest.
  std::string turned(const std::string& value) const {
    if (single_) return "(0.0f - " + value + ")";
    return "(" + std::to_string(static_cast<int>(class_max(to_.cls(image_)))) + " - (int)" + value +
           ")";
  }
  std::string pixel_of(const Operand& image) {
    return "(" + type() + ")" + to_.value(image, "x", "y", "0");
  }
  std::string limit() {
    if (label_.kind == Kind::holes) return turned(to_.value(image_, "x", "y", "0"));
    return pixel_of(reach_ ? image_ : node_.images[1]);
  }

  std::string across(bool along = false) {
    return to_.parameter(ParameterType::int32, name_ + (along ? "_tiles_along" : "_tiles_across"),
                         [image = image_, along](const LaunchContext& at, int) {
                           const Size size = at.size_of(image);
                           const std::int64_t n = along ? size.height : size.width;
                           return static_cast<double>((n + side - 1) / side);
                         });
  }
  // One number a tile: whether it may change.
  std::string tiles(const std::string& suffix) {
    return to_.scratch(
        name_ + suffix, "uint",
        [image = image_](const LaunchContext& at) {
          const Size size = at.size_of(image);
          return 4 * ((size.width + side - 1) / side) * ((size.height + side - 1) / side);
        },
        true);
  }

  std::string tile_text() const {
    std::string out = with(tile_function, "$scan", reach_ ? "" : scan);
    out = with(out, "$spread", reach_ ? spread_edges : spread_values);
    return with(out, "$corners", label_.connectivity == 8 ? "true" : "false");
  }

  std::string text(std::string out) {
    const auto put = [&](std::string_view what, const auto& by) {
      if (out.find(what) != std::string::npos) out = with(out, what, by());
    };
    put("$limit", [&] { return limit(); });
    put("$out", [&] { return to_.plane(self_).pixel(); });
    put("$across", [&] { return across(); });
    put("$along", [&] { return across(true); });
    put("$width", [&] { return to_.width(image_); });
    put("$height", [&] { return to_.height(image_); });
    put("$lowest", [&] { return lowest(); });
    put("$type", [&] { return type(); });
    put("$pixel", [&] { return type_of(node_.cls); });
    put("$items", [&] { return std::to_string(items); });
    put("$name", [&] { return name_; });
    return out;
  }

  void pixels(const std::string& suffix, const std::string& statement) {
    to_.pixel_kernel(
        name_ + suffix, to_.width(image_), to_.height(image_),
        [image = image_](const LaunchContext& at) { return at.size_of(image); },
        "  " + statement + "\n");
  }

  void write_start() {
    std::string first;
    if (reach_) {
      first = to_.value(image_, "x", "y", "0") + " > 4 ? 1 : 0";
    } else if (label_.kind == Kind::reconstruct) {
      const std::string marker = pixel_of(image_), mask = pixel_of(node_.images[1]);
      first = marker + " < " + mask + " ? " + marker + " : " + mask;
    } else {
      first = "x == 0 || y == 0 || x == " + to_.width(image_) +
              " - 1 || y == " + to_.height(image_) + " - 1 ? " +
              turned(to_.value(image_, "x", "y", "0")) + " : " + (single_ ? "-INFINITY" : "0");
    }
    pixels("_start", to_.plane(self_).pixel() + " = (" + type_of(node_.cls) + ")(" + first +
                         ");\n  if (x % 32 == 0 && y % 32 == 0) " + tiles("_awake") + "[y / 32 * " +
                         across() + " + x / 32] = 1u;");
  }

  Builder& to_;
  const Node& node_;
  Label label_;
  Operand self_, image_;
  std::string name_;
  bool single_, reach_;
};

}  // namespace

void write_spread(Builder& to, int n) { SpreadWriter(to, n).run(); }

}  // namespace impipe::jit
