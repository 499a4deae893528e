// The text of sorted tiles: what a group loads, and the cells that a window gains and loses.
#include "backends/jit/neighbourhood/rank_tiles.hpp"

#include <algorithm>

#include "backends/jit/neighbourhood/rank_histogram.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/plan/image_plan.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;
// At once on a processor: by their local memory, and by the registers that floats take.
constexpr int groups = 6, single_groups = 5;

// The kernel's parts that depend on the node.
class RankTiles {
 public:
  RankTiles(Builder& to, int n)
      : to_(to),
        n_(n),
        rank_(std::get<Rank>(to.node(n).primitive)),
        node_(to.node(n)),
        image_(node_.images[0]),
        name_(Builder::name({false, n}) + "_window"),
        single_(node_.cls == PixelClass::single),
        across_(rank_tile_side - rank_.mask.width + 1),
        down_(rank_tile_side - rank_.mask.height + 1),
        strips_(std::clamp(items / across_, 1, down_)) {}

  void write() {
    write_outside();
    to_.body(words_.filled(part(kernels::rank_tiles, "sort")));
    to_.body(words_.filled(part(kernels::rank_tiles, "find")));
    const Operand self{false, n_};
    to_.kernel(
        "store_" + Builder::name(self), items,
        words_.filled(part(kernels::rank_tiles, "kernel")) + undefined("SUM"),
        [self, across = across_, down = down_](const LaunchContext& at) {
          const Size size = at.size_of(self);
          return LaunchShape{
              {(size.width + across - 1) / across, (size.height + down - 1) / down, 1},
              {items, 1, 1}};
        },
        single_ ? single_groups : groups);
  }

 private:
  // NAME_at: the image with what is round it.
  void write_outside() {
    std::string outside = "0";
    if (rank_.border == Border::constant && !node_.arguments.empty()) {
      const int last = static_cast<int>(node_.arguments.size()) - 1;
      outside = converted(node_.cls, "double", to_.argument(n_, last, "outside", "double"));
    }
    write_border(to_, name_ + "_at", type_of(node_.cls), to_.value(image_, "x", "y"), rank_.border,
                 outside, to_.width(image_), to_.height(image_));
  }

  std::string key_text(const std::string& value) const {
    return single_ ? "key_of_single(" + value + ")" : "(uint)" + value;
  }
  std::string inner(const std::string& x, const std::string& y) {
    return key_text(to_.value(image_, x, y));
  }
  std::string outer(const std::string& x, const std::string& y) {
    return key_text(to_.call(name_ + "_at", x, y));
  }

  std::string inside() {
    const std::string side = number(rank_tile_side);
    return "left >= 0 && left + " + side + " <= " + to_.width(image_) + " && top >= 0 && top + " +
           side + " <= " + to_.height(image_);
  }

  // Counts the cells of a mask, whose window is at row - above.
  std::string counted(const std::string& which, const Mask& mask, int above,
                      const std::string& sign) {
    const std::string y = "row + dy + " + number(mask.origin_y - above);
    const std::string offset = "offsets[(" + y + ") * " + number(rank_tile_side) +
                               " + column + dx + " + number(mask.origin_x) + "]";
    return braced(for_each_cell(to_, name_ + which, mask,
                                declared("const uint", "offset", offset) + "COUNT(offset) " + sign +
                                    "= 1; below " + sign + "= offset < limit ? 1 : 0;"));
  }

  // The mask's rows, bit by bit, two words each.
  std::string sets() {
    const Mask mask = rank_.mask;
    return to_.array(ParameterType::int32, name_ + "_sets", 2 * mask.height,
                     [mask](const LaunchContext&, int i) {
                       std::uint32_t bits = 0;
                       for (int k = 0, x = i % 2 * 32; k < 32 && x < mask.width; ++k, ++x) {
                         if (mask.at(x, i / 2)) bits |= 1u << k;
                       }
                       return static_cast<double>(static_cast<std::int32_t>(bits));
                     }) +
           "[item]";
  }

  // `found`: the value at the cell that the rank leads to; an average also takes the next.
  std::string result() {
    const std::string type = single_ ? "float" : "uint";
    const std::string x = "left + (int)(cell & 63u)", y = "top + (int)(cell >> 8)";
    const std::string key = "(inside ? " + inner(x, y) + " : " + outer(x, y) + ")";
    const auto value = [&](const std::string& rank) {
      return declared("const uint", "cell",
                      "find_cell_" + name_ + "(words, sets, item, column, row, at, " + rank +
                          " - below)") +
             declared("const " + type, "value",
                      single_ ? "one_zero(single_of_key(" + key + "))" : key);
    };
    const std::string rank = number(rank_.rank);
    if (!rank_.average) return value(rank) + declared("const " + type, "found", "value");
    const std::string mean = single_ ? "(found + value) / 2.0f" : "(found + value + 1u) / 2u";
    return filled(part(kernels::rank_tiles, "average"),
                  {{"type", type}, {"value", value(rank + " + more")}, {"mean", mean}});
  }

  Builder& to_;
  int n_;
  const Rank& rank_;
  const Node& node_;
  Operand image_;
  std::string name_;
  bool single_;
  int across_, down_, strips_;
  const Substitutions words_{{
      {"unroll", [this] { return to_.unroll(); }},
      {"own", [this] { return name_; }},
      {"single", [this] { return std::string(single_ ? "1" : "0"); }},
      {"full", [this] { return std::string(rank_.mask.full() ? "1" : "0"); }},
      {"origin_x", [this] { return number(rank_.mask.origin_x); }},
      {"origin_y", [this] { return number(rank_.mask.origin_y); }},
      {"wide", [this] { return number(rank_.mask.width); }},
      {"tall", [this] { return number(rank_.mask.height); }},
      {"across", [this] { return number(across_); }},
      {"down", [this] { return number(down_); }},
      {"strips", [this] { return number(strips_); }},
      {"strip", [this] { return number((down_ + strips_ - 1) / strips_); }},
      {"to_width",
       [this] {
         return to_.width({false, n_});
       }},
      {"to_height",
       [this] {
         return to_.height({false, n_});
       }},
      {"rank", [this] { return number(rank_.rank); }},
      {"inside", [this] { return inside(); }},
      {"inner", [this] { return inner("x", "y"); }},
      {"outer", [this] { return outer("x", "y"); }},
      {"sets", [this] { return sets(); }},
      {"all", [this] { return counted("_all", rank_.mask, 0, "+"); }},
      {"leaving", [this] { return counted("_leaving", edge_of(rank_.mask, -1), 1, "-"); }},
      {"entering", [this] { return counted("_entering", edge_of(rank_.mask, 1), 0, "+"); }},
      {"result", [this] { return result(); }},
      {"stored",
       [this] {
         return to_.plane({false, n_}).pixel() + " = (" + type_of(node_.cls) + ")found";
       }},
  }};
};

}  // namespace

void write_rank_tiles(Builder& to, int n) { RankTiles(to, n).write(); }

}  // namespace impipe::jit
