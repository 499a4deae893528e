// The text of the sliding histogram: counts of the values' first eight bits, which cells of the
// mask's edge enter and leave; the remaining bits of wider classes are found by counting the
// window.
#include "backends/jit/neighbourhood/rank_histogram.hpp"

#include <algorithm>

#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/plan/block_plan.hpp"
#include "backends/jit/plan/image_plan.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

constexpr int max_small_count = 255;  // that fits a byte
constexpr int codes = 256;
constexpr int max_row_cells = 64;            // that a work-item holds four times over, in registers
constexpr std::size_t columns_at_once = 24;  // of a mask, loaded before they are counted
// Strips that a processor needs to be busy, and their rows: a strip starts with a whole window.
constexpr std::int64_t enough_strips = 896;
constexpr int max_strip = 128, min_strip = 32;

const Rank& rank_of(const Builder& to, int n) { return std::get<Rank>(to.node(n).primitive); }

// The kernel's parts that depend on the node.
class RankHistogram {
 public:
  RankHistogram(Builder& to, int n)
      : to_(to),
        n_(n),
        rank_(rank_of(to, n)),
        node_(to.node(n)),
        image_(node_.images[0]),
        name_(Builder::name({false, n}) + "_window"),
        cells_(rank_.mask.count()),
        small_(cells_ <= max_small_count) {}

  void write() {
    write_outside();
    write_key();
    const bool rows = rank_.mask.full() && rank_.mask.width <= max_row_cells &&
                      node_.cls != PixelClass::uint16 && node_.cls != PixelClass::single;
    if (rows) write_row();
    if (rest_bits() > 0) write_rest();
    const std::string loop = rows ? text("rows", {{"output", output()}}) : cells_text();
    // 32 KB of local memory, or half of it beside the digits of wider classes.
    const int items = 32 * per() / (rest_bits() > 0 ? 2 : 1);
    const Operand self{false, n_};
    const std::int64_t enough = enough_strips * to_.tuning().processors;
    const std::string strip = to_.parameter(
        ParameterType::int32, name_ + "_strip", [self, enough](const LaunchContext& at, int) {
          return static_cast<double>(strip_of(at.size_of(self), enough));
        });
    const std::string kernel = text("counters") +
                               text("kernel", {{"items", number(items)},
                                               {"words_each", number(codes / per())},
                                               {"has_digits", rest_bits() > 0 ? "1" : "0"},
                                               {"strip", strip},
                                               {"to_height", to_.height(self)},
                                               {"to_width", to_.width(self)},
                                               {"loop", loop},
                                               {"output", ""}}) +
                               undefined("SUMS") + undefined("COUNT") + undefined("PLACE_OF") +
                               undefined("COUNT_AT");
    to_.kernel("store_" + Builder::name(self), items, kernel,
               [self, items, enough](const LaunchContext& at) {
                 const Size size = at.size_of(self);
                 const std::int64_t each = strip_of(size, enough);
                 return LaunchShape{
                     {(size.width + items - 1) / items, (size.height + each - 1) / each, 1},
                     {items, 1, 1}};
               });
  }

 private:
  // enough: strips that keep the device busy.
  static std::int64_t strip_of(Size size, std::int64_t enough) {
    std::int64_t strip = max_strip;
    while (strip > min_strip && size.width * size.height < strip * enough) strip /= 2;
    return strip;
  }

  // Bits of a key beyond the first eight.
  int rest_bits() const {
    return node_.cls == PixelClass::single ? 24 : node_.cls == PixelClass::uint16 ? 8 : 0;
  }

  // NAME_at: the image with what is round it.
  void write_outside() {
    std::string outside = "0";
    if (rank_.border == Border::constant && !node_.arguments.empty()) {
      const int last = static_cast<int>(node_.arguments.size()) - 1;
      outside = converted(node_.cls, "double", to_.argument(n_, last, "outside", "double"));
    }
    outside_ = outside;
    write_border(to_, name_ + "_at", type_of(node_.cls), to_.value(image_, "x", "y"), rank_.border,
                 outside, to_.width(image_), to_.height(image_));
  }

  // NAME_key: the ordered key of a pixel.
  void write_key() {
    const std::string key = key_text(to_.call(name_ + "_at", "x", "y"));
    to_.function(name_ + "_key", pixel_function("uint", name_ + "_key", returned(key)));
  }

  std::string key_text(const std::string& value) const {
    return node_.cls == PixelClass::single ? "key_of_single(" + value + ")" : "(uint)" + value;
  }

  void write_row() {
    const PlaneText plane = to_.plane(image_);
    const std::string at = to_.call(name_ + "_at", "first + 4 * k + j", "y");
    to_.function(name_ + "_row",
                 text("row", {{"constant", rank_.border == Border::constant ? "1" : "0"},
                              {"rule", name_of(rank_.border)},
                              {"outside", outside_},
                              {"stride", plane.stride},
                              {"plane", plane.row("y")},
                              {"at", at}}));
  }

  void write_rest() {
    const auto step = [](const std::string& key) {
      return "const uint key = " + key +
             "; if (key >> (shift + 4) == found) DIGIT(key >> shift & 15u) += 1;";
    };
    const Mask& mask = rank_.mask;
    const std::string key = to_.call(name_ + "_key", "x + dx", "y + dy");
    const std::string inner = key_text(to_.value(image_, "x + dx", "y + dy"));
    to_.function(name_ + "_rest",
                 text("rest", {{"rest_name", name_ + "_rest"},
                               {"rest", number(rest_bits())},
                               {"inner", for_each_cell(to_, name_, mask, step(inner))},
                               {"cells", for_each_cell(to_, name_, mask, step(key))}}));
  }

  int per() const { return small_ ? 4 : 2; }
  std::string text(std::string_view name, Replacements own = {}) const {
    return words_.filled(part(kernels::rank_histogram, name), own);
  }

  std::string cells_text() {
    const std::string top = rest_bits() > 0 ? " >> " + number(rest_bits()) : "";
    const auto moved = [&](const char* which, const Mask& mask, const char* y, const char* sign) {
      const std::string key = to_.call(name_ + "_key", "x + dx", y);
      return braced(for_each_cell(to_, name_ + which, mask,
                                  declared("const uint", "code", key + top) + "COUNT(code) " +
                                      sign + "= 1; below " + sign + "= code < place ? 1 : 0;"));
    };
    const std::string by_columns = text_by_columns();
    return text("cells",
                {{"output", output()},
                 {"all", moved("_all", rank_.mask, "y + dy", "+")},
                 {"leaving", moved("_leaving", edge_of(rank_.mask, -1), "y - 1 + dy", "-")},
                 {"entering", moved("_entering", edge_of(rank_.mask, 1), "y + dy", "+")},
                 {"plane_here", by_columns.empty() ? "" : to_.plane(image_).row("y") + " + x"},
                 {"has_columns", by_columns.empty() ? "0" : "1"},
                 {"by_columns", by_columns}});
  }

  // The cells that enter and leave each column of a mask of bytes, many of them loaded before they
  // are counted. Empty for other classes, and for masks of too many.
  std::string text_by_columns() {
    if (rest_bits() > 0) return "";
    if (!takes_columns(rank_.mask)) return "";
    const std::string stride = to_.plane(image_).stride;
    const auto at = [&](int dx, int dy) {
      return "here[" + number(dy) + " * " + stride + " + " + number(dx) + "]";
    };
    std::vector<std::string> loads, moves;
    for (const Run& run : columns_of(rank_.mask)) {
      const std::string k = number(static_cast<std::int64_t>(loads.size()));
      loads.push_back(text("load_column", {{"number", k},
                                           {"entering_at", at(run.x, run.y + run.length - 1)},
                                           {"leaving_at", at(run.x, run.y - 1)}}));
      moves.push_back(text("move_column", {{"number", k}}));
    }
    std::string all;
    for (std::size_t i = 0; i < loads.size(); i += columns_at_once) {
      const auto begin = static_cast<std::ptrdiff_t>(i);
      const auto end =
          static_cast<std::ptrdiff_t>(std::min<std::size_t>(i + columns_at_once, loads.size()));
      std::string some;
      for (auto k = begin; k < end; ++k) some += loads[static_cast<std::size_t>(k)];
      for (auto k = begin; k < end; ++k) some += moves[static_cast<std::size_t>(k)];
      all += braced(some);
    }
    return all;
  }

  // Moves `place` up by single codes to the one that the rank is in.
  std::string steps(const std::string& place, const std::string& below, int rank) const {
    return text("steps", {{"code", place}, {"codes_below", below}, {"its_rank", number(rank)}});
  }

  std::string output() {
    const std::string out = to_.plane({false, n_}).pixel() + " = (" + type_of(node_.cls) + ")found";
    return text("output", {{"result", result_text()}, {"stored", out}});
  }

  // How many codes of a word's have no more than `more` up to them.
  std::string codes_up_to(const std::string& sums, const std::string& more) const {
    std::string found;
    for (int k = 0; k + 1 < per(); ++k) {
      found += " + ((" + sums + " >> " + number(small_ ? 8 * k : 16 * k) + " & " +
               (small_ ? "255u" : "65535u") + ") <= " + more + " ? 1u : 0u)";
    }
    return found;
  }

  // `found`: the value from place and below; with an average also that of the next.
  std::string result_text() {
    const bool single = node_.cls == PixelClass::single;
    const std::string type = single ? "float" : "uint";
    const auto value = [&](const char* place, const std::string& rank) {
      std::string key = place;
      if (rest_bits() > 0) {
        key = name_ + "_rest(ARGS, digits, x, y, " + place + ", " + rank + ")";
      }
      return single ? "one_zero(single_of_key(" + key + "))" : key;
    };
    if (rest_bits() == 0) {
      const std::string one =
          declared("const uint", "more", "(uint)(" + number(rank_.rank) + " - below)") +
          declared("const uint", "lower", "place" + codes_up_to("sums", "more"));
      if (!rank_.average) return one + declared("const uint", "found", "lower");
      return one + text("next", {{"codes_up_to", codes_up_to("sums_after", "wanted")}});
    }
    const std::string text =
        declared("uint", "at", "place") + declared("int", "below_at", "below") +
        steps("at", "below_at", rank_.rank) +
        declared(type, "found", value("at", number(rank_.rank) + " - below_at"));
    if (!rank_.average) return text;
    const std::string next = number(rank_.rank + 1);
    return text + declared("uint", "place_after", "at") +
           declared("int", "below_after", "below_at") +
           steps("place_after", "below_after", rank_.rank + 1) +
           declared("const " + type, "after", value("place_after", next + " - below_after")) +
           assigned("found", single ? "(found + after) / 2.0f" : "(found + after + 1u) / 2u");
  }

  Builder& to_;
  int n_;
  const Rank& rank_;
  const Node& node_;
  Operand image_;
  std::string name_, outside_;
  int cells_;
  bool small_;
  const Substitutions words_{{
      {"row_name", [this] { return name_ + "_row"; }},
      {"row_words", [this] { return number((rank_.mask.width + 3) / 4); }},
      {"left", [this] { return number(rank_.mask.footprint().left); }},
      {"right", [this] { return number(rank_.mask.footprint().right); }},
      {"up", [this] { return number(rank_.mask.footprint().up); }},
      {"down", [this] { return number(rank_.mask.footprint().down); }},
      {"wide", [this] { return number(rank_.mask.width); }},
      {"tall", [this] { return number(rank_.mask.height); }},
      {"width", [this] { return to_.width(image_); }},
      {"height", [this] { return to_.height(image_); }},
      {"rank", [this] { return number(rank_.rank); }},
      {"codes", [] { return number(codes); }},
      {"per", [this] { return number(per()); }},
      {"top", [this] { return number(32 - 32 / per()); }},
      {"counter", [this] { return std::string(small_ ? "uchar" : "ushort"); }},
      {"bytes", [this] { return std::string(small_ ? "1" : "0"); }},
      {"counter_bytes", [this] { return std::string(small_ ? "1" : "2"); }},
      {"high_bits", [this] { return std::string(small_ ? "0xfcfcfcfcu" : "0xfefefefeu"); }},
      {"high_times", [this] { return std::string(small_ ? "32u" : "64u"); }},
      {"low_times", [this] { return std::string(small_ ? "1u" : "2u"); }},
      {"unroll", [this] { return to_.unroll(); }},
  }};
};

}  // namespace

Mask edge_of(const Mask& mask, int dy) {
  Mask out = mask;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      const bool next = y + dy >= 0 && y + dy < mask.height && mask.at(x, y + dy);
      const std::int64_t cell = std::int64_t{y} * mask.width + x;
      if (next) out.cells[static_cast<std::size_t>(cell)] = 0;
    }
  }
  return out;
}

void write_rank_histogram(Builder& to, int n) { RankHistogram(to, n).write(); }

}  // namespace impipe::jit
