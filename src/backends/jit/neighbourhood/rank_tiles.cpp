// The text of sorted tiles, and of blocks that are sorted once and joined by the tiles that windows
// slide in: what a group loads, and the cells that a window gains and loses.
#include <algorithm>
#include <bit>

#include "backends/jit/neighbourhood/rank_histogram.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/plan/block_plan.hpp"
#include "backends/jit/plan/form.hpp"
#include "backends/jit/text/builder.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;
constexpr int rank_tile_side = 64;
// At once on a processor: by their local memory, and by the registers that floats take.
constexpr int groups = 6, single_groups = 5;
constexpr std::size_t offsets_at_once = 8;  // of a mask's columns

// The blocks in which the windows of rank_tile_side x rank_tile_side results lie.
struct RankBlocksSize {
  int across = 1, down = 1;

  static RankBlocksSize of(const Mask& mask) {
    const auto blocks = [](int reach) { return (reach + 2 * rank_tile_side - 2) / rank_tile_side; };
    return {blocks(mask.width), blocks(mask.height)};
  }
  int count() const { return across * down; }
  // Work-items of a group that slide windows: local memory holds a byte for each 32 cells.
  int sliders() const {
    constexpr int local_bytes = 40 * 1024, run = 32;
    const int each = count() * rank_tile_side * rank_tile_side / run;
    return std::min<int>(
        rank_tile_side,
        static_cast<int>(std::bit_floor(static_cast<unsigned>(local_bytes / each))));
  }
  // Whether bytes hold the rows and columns of cells, and a bit more.
  bool packed() const { return across <= 2 && down <= 2; }
};

// What both have: the keys of pixels, and the value at the cell that a rank leads to.
class SortedRanks {
 protected:
  SortedRanks(Builder& builder, int n)
      : builder_(builder),
        n_(n),
        rank_(std::get<Rank>(builder.node(n).primitive)),
        node_(builder.node(n)),
        image_(node_.images[0]),
        name_(Builder::name({false, n}) + "_window"),
        single_(node_.cls == PixelClass::single) {}

  // NAME_at: the image with what is round it.
  void write_outside() {
    write_border(builder_, name_ + "_at", type_of(node_.cls), builder_.value(image_, "x", "y"),
                 rank_.border, outside_rank(builder_, n_), builder_.width(image_),
                 builder_.height(image_));
  }

  std::string key_text(const std::string& value) const {
    return single_ ? "key_of_single(" + value + ")" : "(uint)" + value;
  }
  std::string inner(const std::string& x, const std::string& y) {
    return key_text(builder_.value(image_, x, y));
  }
  std::string outer(const std::string& x, const std::string& y) {
    return key_text(builder_.call(name_ + "_at", x, y));
  }

  // Whether so many pixels from left and top on are in the image.
  std::string inside(int across, int down) {
    return "left >= 0 && left + " + number(across) + " <= " + builder_.width(image_) +
           " && top >= 0 && top + " + number(down) + " <= " + builder_.height(image_);
  }

  // The mask's rows, bit by bit, so many words each.
  std::string sets(int words, const std::string& index) {
    const Mask mask = rank_.mask;
    return builder_.array(ParameterType::int32, name_ + "_sets", words * mask.height,
                          [mask, words](const LaunchContext&, int i) {
                            std::uint32_t bits = 0;
                            for (int k = 0, x = i % words * 32; k < 32 && x < mask.width;
                                 ++k, ++x) {
                              if (mask.at(x, i / words)) bits |= 1u << k;
                            }
                            return static_cast<double>(static_cast<std::int32_t>(bits));
                          }) +
           "[" + index + "]";
  }

  // Runs `step` for the cells of a mask, at row + dy and column + dx of the window.
  std::string counted(const std::string& which, const Mask& mask, const std::string& step) {
    return braced(for_each_cell(builder_, name_ + which, mask, step));
  }

  // `found`: the value at the cell that the rank leads to; an average also takes the next. found:
  // the text that finds a rank less `below`; cell: that of the cell; x, y: where it is in the
  // image.
  std::string result(const std::function<std::string(const std::string& rank)>& found,
                     const std::function<std::string(const std::string& found)>& cell,
                     const std::string& x, const std::string& y) {
    const std::string type = single_ ? "float" : "uint";
    const std::string key = "(inside ? " + inner(x, y) + " : " + outer(x, y) + ")";
    const std::string value =
        declared("const " + type, "value", single_ ? "one_zero(single_of_key(" + key + "))" : key);
    const auto found_at = [&](int rank) { return found(number(rank) + " - below"); };
    if (!rank_.average) {
      return declared("const uint", "cell", cell(found_at(rank_.rank))) + value +
             declared("const " + type, "found", "value");
    }
    return filled(part(kernels::rank_tiles, "average"),
                  {{"type", type},
                   {"found", found_at(rank_.rank)},
                   {"found_after", found_at(rank_.rank + 1)},
                   {"cell_of_found", cell("two & 0xffffu")},
                   {"cell_of_after", cell("after")},
                   {"value", value},
                   {"mean", single_ ? "(found + value) / 2.0f" : "(found + value + 1u) / 2u"}});
  }

  // What the templates of both read.
  Substitutions::Map words() {
    return {
        {"unroll", [this] { return builder_.unroll(); }},
        {"own", [this] { return name_; }},
        {"single", [this] { return std::string(single_ ? "1" : "0"); }},
        {"full", [this] { return std::string(rank_.mask.full() ? "1" : "0"); }},
        {"origin_x", [this] { return number(rank_.mask.origin_x); }},
        {"origin_y", [this] { return number(rank_.mask.origin_y); }},
        {"wide", [this] { return number(rank_.mask.width); }},
        {"tall", [this] { return number(rank_.mask.height); }},
        {"to_width",
         [this] {
           return builder_.width({false, n_});
         }},
        {"to_height",
         [this] {
           return builder_.height({false, n_});
         }},
        {"rank", [this] { return number(rank_.rank); }},
        {"average", [this] { return std::string(rank_.average ? "1" : "0"); }},
        {"inner", [this] { return inner("x", "y"); }},
        {"outer", [this] { return outer("x", "y"); }},
        {"stored",
         [this] {
           return builder_.plane({false, n_}).pixel() + " = (" + type_of(node_.cls) + ")found";
         }},
    };
  }
  static Substitutions::Map with(Substitutions::Map words, Substitutions::Map own) {
    words.merge(own);
    return words;
  }

  Builder& builder_;
  int n_;
  const Rank& rank_;
  const Node& node_;
  Operand image_;
  std::string name_;
  bool single_;
};

// Tiles that a group sorts, all of whose windows it slides.
class RankTiles : SortedRanks {
 public:
  RankTiles(Builder& builder, int n)
      : SortedRanks(builder, n),
        across_(rank_tile_side - rank_.mask.width + 1),
        down_(rank_tile_side - rank_.mask.height + 1),
        strips_(std::clamp(items / across_, 1, down_)) {}

  void write() {
    write_outside();
    builder_.body(words_.filled(part(kernels::rank_tiles, "sort")));
    builder_.body(words_.filled(part(kernels::rank_tiles, "find")));
    const Operand self{false, n_};
    builder_.kernel("store_" + Builder::name(self), items,
                    words_.filled(part(kernels::rank_tiles, "kernel")) + undefined("SUM"),
                    launch_tiles(self, across_, down_, items), single_ ? single_groups : groups);
  }

 private:
  // Counts the cells of a mask, whose window is at row - above.
  std::string moved(const std::string& which, const Mask& mask, int above,
                    const std::string& sign) {
    const std::string y = "row + dy + " + number(mask.origin_y - above);
    const std::string offset = "offsets[(" + y + ") * " + number(rank_tile_side) +
                               " + column + dx + " + number(mask.origin_x) + "]";
    return counted(which, mask,
                   declared("const uint", "offset", offset) + "COUNT(offset) " + sign +
                       "= 1; below " + sign + "= offset < limit ? 1 : 0;");
  }

  bool has_columns() const { return takes_columns(builder_.context(), rank_.mask); }

  // The ends of the runs of the mask's columns, some of them loaded before they are counted.
  std::string by_columns() {
    const std::vector<Run> columns = columns_of(rank_.mask);
    std::string all;
    for (std::size_t i = 0; i < columns.size(); i += offsets_at_once) {
      std::string loads, counts;
      for (std::size_t k = i; k < std::min(i + offsets_at_once, columns.size()); ++k) {
        const Run& run = columns[k];
        const int x = run.x + rank_.mask.origin_x, y = run.y + rank_.mask.origin_y;
        const std::string name = number(static_cast<std::int64_t>(k));
        loads += filled(part(kernels::rank_tiles, "load_offsets"),
                        {{"number", name},
                         {"entering_at", number((y + run.length - 1) * rank_tile_side + x)},
                         {"leaving_at", number((y - 1) * rank_tile_side + x)}});
        counts += filled(part(kernels::rank_tiles, "count_offsets"), {{"number", name}});
      }
      all += braced(loads + counts);
    }
    return all;
  }

  std::string result() {
    return SortedRanks::result(
        [this](const std::string& rank) {
          return "find_cell_" + name_ + "(words, sets, item, column, row, at, " + rank + ")";
        },
        [](const std::string& found) { return found; }, "left + (int)(cell & 63u)",
        "top + (int)(cell >> 8)");
  }

  int across_, down_, strips_;
  const Substitutions words_{
      with(words(),
           {
               {"across", [this] { return number(across_); }},
               {"down", [this] { return number(down_); }},
               {"strips", [this] { return number(strips_); }},
               {"strip", [this] { return number((down_ + strips_ - 1) / strips_); }},
               {"inside", [this] { return inside(rank_tile_side, rank_tile_side); }},
               {"sets", [this] { return sets(2, "item"); }},
               {"has_columns", [this] { return std::string(has_columns() ? "1" : "0"); }},
               {"by_columns", [this] { return by_columns(); }},
               {"all", [this] { return moved("_all", rank_.mask, 0, "+"); }},
               {"leaving", [this] { return moved("_leaving", edge_of(rank_.mask, -1), 1, "-"); }},
               {"entering", [this] { return moved("_entering", edge_of(rank_.mask, 1), 0, "+"); }},
               {"result", [this] { return result(); }},
           })};
};

// Blocks that are sorted once, and joined for the windows of as many results.
class RankBlocks : SortedRanks {
 public:
  RankBlocks(Builder& builder, int n)
      : SortedRanks(builder, n),
        blocks_(RankBlocksSize::of(rank_.mask)),
        set_words_((rank_.mask.width + 31) / 32) {}

  void write() {
    write_outside();
    builder_.body(text("sort"));
    const Operand self{false, n_};
    builder_.kernel(
        "sort_" + Builder::name(self), items, text("sort_blocks", {{"inside", inside(side, side)}}),
        [self, blocks = blocks_](const LaunchContext& at) {
          return LaunchShape{
              {across(at, self) + blocks.across - 1, down(at, self) + blocks.down - 1, 1},
              {items, 1, 1}};
        },
        single_ ? single_groups : groups);
    builder_.body(text("places"));
    builder_.kernel(
        "store_" + Builder::name(self), items,
        text("rank_blocks", {{"inside", inside(side * blocks_.across, side * blocks_.down)}}) +
            undefined("COUNTED") + undefined("ROW_OF") + undefined("COLUMN_OF") +
            undefined("CELL_OF"),
        [this_size = slots()](const LaunchContext& at) {
          return LaunchShape{{this_size(at), 1, 1}, {items, 1, 1}};
        },
        groups);
  }

 private:
  static constexpr int side = rank_tile_side;
  // Bytes of what groups keep beside each other, at most.
  static constexpr std::int64_t max_slot_bytes = std::int64_t{96} << 20;

  std::string text(std::string_view name, Replacements own = {}) const {
    return words_.filled(part(kernels::rank_tiles, name), own);
  }

  static std::int64_t across(const LaunchContext& at, const Operand& self) {
    return (at.size_of(self).width + side - 1) / side;
  }
  static std::int64_t down(const LaunchContext& at, const Operand& self) {
    return (at.size_of(self).height + side - 1) / side;
  }

  // Groups of a launch, each with an order of its own.
  LaunchNumber slots() const {
    const std::int64_t fit = max_slot_bytes / (std::int64_t{4} * side * side * blocks_.count());
    const std::int64_t most =
        std::clamp<std::int64_t>(fit, 1, std::int64_t{groups} * builder_.tuning().processors);
    return [self = Operand{false, n_}, most](const LaunchContext& at) {
      return std::min(across(at, self) * down(at, self), groups_of_plane(at, most));
    };
  }
  std::string slot_memory(const std::string& suffix) {
    return builder_.scratch(name_ + suffix, "ushort",
                            [size = slots(), count = blocks_.count()](const LaunchContext& at) {
                              return 2 * size(at) * side * side * count;
                            });
  }
  std::string block_memory(const std::string& suffix, const std::string& type, int bytes) {
    return builder_.scratch(
        name_ + suffix, type,
        [self = Operand{false, n_}, blocks = blocks_, bytes](const LaunchContext& at) {
          return std::int64_t{bytes} * side * side * (across(at, self) + blocks.across - 1) *
                 (down(at, self) + blocks.down - 1);
        });
  }

  std::string tiles(const char* which, LaunchNumber count) {
    return builder_.integer(name_ + which, std::move(count));
  }

  // Counts the cells of a mask, whose window is at row - above.
  std::string moved(const std::string& which, const Mask& mask, int above,
                    const std::string& sign) {
    const std::string counter = "COUNTER_AT(row + dy + " + number(mask.origin_y - above) +
                                ", column + dx + " + number(mask.origin_x) + ")";
    return counted(which, mask,
                   declared("const uint", "counter", counter) + "COUNT(counter) " + sign +
                       "= 1; below " + sign + "= counter < limit ? 1 : 0;");
  }

  std::string result() {
    return SortedRanks::result(
        [this](const std::string& rank) {
          return "find_place_" + name_ + "(counts, sets, order, column, row, at, " + rank + ")";
        },
        [](const std::string& found) { return "order[" + found + "]"; },
        "left + (int)(COLUMN_OF(cell))", "top + (int)(ROW_OF(cell))");
  }
  std::string turns(int count) const {
    return builder_.tuning().unroll ? unroll_pragma(count) : "";
  }
  std::string flag(bool set) const { return set ? "1" : "0"; }

  RankBlocksSize blocks_;
  int set_words_;
  const Substitutions words_{with(
      words(),
      {
          {"blocks_across", [this] { return number(blocks_.across); }},
          {"blocks_down", [this] { return number(blocks_.down); }},
          {"sliders", [this] { return number(blocks_.sliders()); }},
          {"packed", [this] { return flag(blocks_.packed()); }},
          {"by_bytes", [this] { return flag(blocks_.packed() && rank_.mask.full()); }},
          {"set_words", [this] { return number(set_words_); }},
          {"by_fours", [this] { return turns(4); }},
          {"by_eights", [this] { return turns(8); }},
          {"tiles_across",
           [this] {
             return tiles("_tiles_across", [self = Operand{false, n_}](const LaunchContext& at) {
               return static_cast<double>(across(at, self));
             });
           }},
          {"tiles",
           [this] {
             return tiles("_tiles", [self = Operand{false, n_}](const LaunchContext& at) {
               return static_cast<double>(across(at, self) * down(at, self));
             });
           }},
          {"keys", [this] { return block_memory("_keys", "uint", 4); }},
          {"cells", [this] { return block_memory("_cells", "ushort", 2); }},
          {"counters_of", [this] { return slot_memory("_counters"); }},
          {"orders", [this] { return slot_memory("_orders"); }},
          {"sets", [this] { return sets(set_words_, "k"); }},
          {"all", [this] { return moved("_all", rank_.mask, 0, "+"); }},
          {"leaving", [this] { return moved("_leaving", edge_of(rank_.mask, -1), 1, "-"); }},
          {"entering", [this] { return moved("_entering", edge_of(rank_.mask, 1), 0, "+"); }},
          {"result", [this] { return result(); }},
      })};
};

Offer offer_sorted(const FormQuestion& question, const FormRow& row) {
  const auto* rank = as<Rank>(question.node());
  if (rank == nullptr) return vetoed("no rank filter");
  if (rank->offsets) return vetoed("its cells have offsets");
  if (rank->entropy) return vetoed("an entropy takes counts, no order");
  if (!question.context.tuning.sorted_tiles)
    return vetoed("the device has no row for sorted tiles");
  if (question.cls() == PixelClass::logical) return vetoed("two values need no order");
  return {.work = {.bytes = bytes_moved(question.context, question.n)},
          .form = FamilyForm{&row},
          .reason = "its values are sorted once for many windows"};
}

Offer offer_rank_tiles(const FormQuestion& question) {
  constexpr int max_window = 55;  // windows beyond leave a tile too few results
  Offer offer = offer_sorted(question, rank_tiles_form);
  if (!offer.veto.empty()) return offer;
  const Mask& mask = as<Rank>(question.node())->mask;
  const std::int64_t bytes = 4 * 6144 + 2 * 4224 + (mask.full() ? 0 : 8 * mask.height);
  if (std::max(mask.width, mask.height) > max_window ||
      bytes > std::min<std::int64_t>(question.context.tuning.max_local_bytes, 48 * 1024)) {
    return vetoed("local memory does not hold its tiles");
  }
  const double across = rank_tile_side - mask.width + 1, down = rank_tile_side - mask.height + 1;
  const double share = rank_tile_side * rank_tile_side / (across * down);
  const double ends = 2.0 * edge_of(mask, -1).count();
  const bool single = question.cls() == PixelClass::single;
  offer.work.operations = !mask.full() ? 320 + 1200 * share + 40 * ends
                          : single     ? 640 + 1040 * share + 8 * ends
                                       : 320 + 480 * share + 16 * ends;
  return offer;
}

Offer offer_rank_blocks(const FormQuestion& question) {
  constexpr int max_blocks = 16;  // whose cells have 16 bits as their index
  Offer offer = offer_sorted(question, rank_blocks_form);
  if (!offer.veto.empty()) return offer;
  const Mask& mask = as<Rank>(question.node())->mask;
  const RankBlocksSize size = RankBlocksSize::of(mask);
  if (size.count() > max_blocks) return vetoed("its windows lie in too many blocks");
  const double ends = 2.0 * edge_of(mask, -1).count();
  offer.work.operations = 950 + 1200 * size.count() + (mask.full() ? 0 : 1600 + 24 * ends);
  offer.work.launches = 2;
  return offer;
}

}  // namespace

const FormRow rank_tiles_form = {"windows in sorted tiles", offer_rank_tiles,
                                 [](Builder& builder, const KernelPlan&, int n) -> LaunchTest {
                                   RankTiles(builder, n).write();
                                   return nullptr;
                                 }};
const FormRow rank_blocks_form = {"windows in joined sorted blocks", offer_rank_blocks,
                                  [](Builder& builder, const KernelPlan&, int n) -> LaunchTest {
                                    RankBlocks(builder, n).write();
                                    return nullptr;
                                  }};

}  // namespace impipe::jit
