// The text of the sliding histogram: counts of the values' first eight bits, which cells of the
// mask's edge enter and leave; the remaining bits of wider classes are found by counting the
// window.
#include "backends/jit/neighbourhood/rank_histogram.hpp"

#include <algorithm>

#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

constexpr int most_small_count = 255;  // that fits a byte
constexpr int codes = 256;
constexpr int most_row_cells = 64;  // that a work-item holds four times over, in registers
// Strips that a processor needs to be busy, and their rows: a strip starts with a whole window.
constexpr std::int64_t enough_strips = 896;
constexpr int most_strip = 128, least_strip = 32;

// The bytes of a row under a full rectangle's row, packed into words.
constexpr const char* row_function =
    R"(FUNCTION void $row_name(GIVEN, const int x, int y, uint f[$words]) {
  const int first = x - $left;
  $row_rule
  const int word = first >> 2;
  if (first >= 0 && first + $wide <= $width && word + $words + 1 <= (int)($stride / 4)) {
    GLOBAL const uint* const from = (GLOBAL const uint*)($plane) + word;
    const int shift = (first & 3) * 8;
    uint low = from[0];
$unroll    for (int k = 0; k < $words; ++k) {
      const uint high = from[k + 1];
      f[k] = SHIFTED_WORD(low, high, shift);
      low = high;
    }
  } else {
    for (int k = 0; k < $words; ++k) {
      uint packed = 0;
      for (int j = 0; j < 4; ++j) packed |= (uint)$at << (8 * j);
      f[k] = packed;
    }
  }
}
)";

// A strip, by rows of a rectangle; rows are loaded one before they are needed. A counter waits for
// the one before, which may be the same: so two are read together, and what an equal code would
// have added is added.
constexpr const char* rows_loop =
    R"(    uint enters[$words], leaves[$words], next_enters[$words], next_leaves[$words];
    for (int k = 0; k < $words; ++k) enters[k] = leaves[k] = next_enters[k] = next_leaves[k] = 0;
    for (int row = first - $up - 1; row < last + $down; ++row) {
      $row_name(GIVE, x, row + 1, next_enters);
      if (row >= first + $down) $row_name(GIVE, x, row + 1 - $tall, next_leaves);
      if (row > first + $down) {
$unroll        for (int i = 0; i < $wide; ++i) {
          const uint in0 = BYTE(enters, i), out0 = BYTE(leaves, i);
          const int a0 = COUNT(in0), b0 = COUNT(out0);
          COUNT(in0) = a0 + 1;
          COUNT(out0) = b0 - 1 + (out0 == in0 ? 1 : 0);
          below += (in0 < place ? 1 : 0) - (out0 < place ? 1 : 0);
        }
      } else if (row >= first - $up) {
$unroll        for (int i = 0; i < $wide; ++i) {
          const uint code = BYTE(enters, i);
          COUNT(code) += 1;
          below += code < place ? 1 : 0;
        }
      }
      for (int k = 0; k < $words; ++k) {
        enters[k] = next_enters[k];
        leaves[k] = next_leaves[k];
      }
      const int y = row - $down;
      if (y < first) continue;
)";

// Any mask: the cells that the window gains and loses when it moves down.
constexpr const char* cells_loop = R"(    for (int y = first; y < last; ++y) {
      if (y == first) {
$all      } else {
$leaving$entering      }
)";

constexpr const char* kernel_text =
    R"(#define BYTE(words, i) (words[(i) / 4] >> ((i) % 4 * 8) & 255u)
#define COUNT(code) \
  ((IN_LOCAL $count*)words)[own + (int)((code) / $per * (32 * $per) + (code) % $per)]
$sums_macro  LOCAL uint words[$items * $words_each];
$digits  const int own = ITEM / 32 * (32 * $codes) + ITEM % 32 * $per;
  const int x = GROUP_X * $items + ITEM;
  const int first = GROUP_Y * $strip;
  const int last = smaller(first + $strip, $height);
  if (x >= $width) return;
  {
    for (int k = 0; k < $words_each; ++k) words[own / $per + k * 32] = 0;
    // How many values of the window are in codes before `place`.
    uint place = 0;
    int below = 0;
$loop$walk$result      $store
    }
  }
#undef SUMS
#undef COUNT
#undef BYTE
)";

// The counters of $per codes from `code`, a multiple of $per: in field i the sum of the first i +
// 1, so in the highest the sum of all. One load and one product where the fields are bytes.
constexpr const char* sums_of_bytes =
    "#define SUMS(code) (words[own / 4 + (int)((code) / 4 * 32)] * 0x01010101u)\n";
constexpr const char* sums_of_shorts =
    "#define SUMS(code) ((uint)COUNT(code) * 0x10001u + ((uint)COUNT((code) + 1) << 16))\n";

// Moves `place` to the counters that the rank is in. Content like a checkerboard's takes it over
// all codes at edges, most of them empty: after some steps in vain, four at once.
constexpr const char* walk = R"(      if (below > $rank) {
        place -= $per;
        below -= (int)(SUMS(place) >> $top);
        while (below > $rank && place >= 4 * $per) {
          int many = 0;
$unroll          for (int k = 1; k <= 4; ++k) many += (int)(SUMS(place - k * $per) >> $top);
          if (below - many <= $rank) break;
          place -= 4 * $per;
          below -= many;
        }
        while (below > $rank) {
          place -= $per;
          below -= (int)(SUMS(place) >> $top);
        }
      }
      uint sums = SUMS(place);
      for (int k = 0; k < 2 && below + (int)(sums >> $top) <= $rank; ++k) {
        below += (int)(sums >> $top);
        place += $per;
        sums = SUMS(place);
      }
      if (below + (int)(sums >> $top) <= $rank) {
        below += (int)(sums >> $top);
        place += $per;
        while (place <= $codes - 4 * $per) {
          int many = 0;
$unroll          for (int k = 0; k < 4; ++k) many += (int)(SUMS(place + k * $per) >> $top);
          if (below + many > $rank) break;
          place += 4 * $per;
          below += many;
        }
        sums = SUMS(place);
        while (below + (int)(sums >> $top) <= $rank) {
          below += (int)(sums >> $top);
          place += $per;
          sums = SUMS(place);
        }
      }
)";

constexpr const char* digits_text = R"(  LOCAL ushort all_digits[$items * 16];
  IN_LOCAL ushort* const digits = all_digits + ITEM / 32 * (32 * 16) + ITEM % 32 * 2;
)";

// The key whose first bits are `prefix` and that `rank` of the keys with these first bits precede:
// four bits at a time, for which all cells are counted. digits: a work-item's own counters.
constexpr const char* rest_function =
    R"(#define DIGIT(d) digits[(int)((d) / 2 * 64 + (d) % 2)]
FUNCTION uint $rest_name(GIVEN, IN_LOCAL ushort* const digits, const int x, const int y,
                        const uint prefix, int rank) {
  const bool inside = x >= $left && x + $right < $width && y >= $up && y + $down < $height;
  uint found = prefix;
  for (int shift = $rest - 4; shift >= 0; shift -= 4) {
    for (uint d = 0; d < 16; ++d) DIGIT(d) = 0;
    if (inside) {
$inner    } else {
$cells    }
    uint digit = 0;
    for (int count = DIGIT(0u); rank >= count && digit < 15; count = DIGIT(digit)) {
      rank -= count;
      ++digit;
    }
    found = found << 4 | digit;
  }
  return found;
}
#undef DIGIT
)";

const Rank& rank_of(const Builder& to, int n) { return std::get<Rank>(to.node(n).primitive); }

// The set cells whose neighbour above (dy -1) or below (1) is not set.
Mask edge(const Mask& mask, int dy) {
  Mask out = mask;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      const bool next = y + dy >= 0 && y + dy < mask.height && mask.at(x, y + dy);
      if (next) out.cells[static_cast<std::size_t>(y * mask.width + x)] = 0;
    }
  }
  return out;
}

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
        small_(cells_ <= most_small_count),
        unroll_(to.unroll()) {}

  void write() {
    write_outside();
    write_key();
    const bool rows = rank_.mask.full() && rank_.mask.width <= most_row_cells &&
                      node_.cls != PixelClass::uint16 && node_.cls != PixelClass::single;
    if (rows) write_row();
    if (rest_bits() > 0) write_rest();
    const std::string loop = rows ? rows_text() : cells_text();
    // 32 KB of local memory, or half of it beside the digits of wider classes.
    const int per = small_ ? 4 : 2, items = 32 * per / (rest_bits() > 0 ? 2 : 1);
    const Operand self{false, n_};
    const std::int64_t enough = enough_strips * to_.tuning().processors;
    const std::string strip = to_.parameter(
        ParameterType::int32, name_ + "_strip", [self, enough](const LaunchContext& at, int) {
          return static_cast<double>(strip_of(at.size_of(self), enough));
        });
    const std::string text =
        filled(kernel_text,
               {{"count", small_ ? "uchar" : "ushort"},
                {"per", number(per)},
                {"words_each", number(codes / per)},
                {"items", number(items)},
                {"codes", number(codes)},
                {"digits", rest_bits() > 0 ? filled(digits_text, {{"items", number(items)}}) : ""},
                {"strip", strip},
                {"height", to_.height(self)},
                {"width", to_.width(self)},
                {"loop", loop},
                {"sums_macro", small_ ? sums_of_bytes : sums_of_shorts},
                {"walk", filled(walk, {{"rank", number(rank_.rank)},
                                       {"per", number(per)},
                                       {"codes", number(codes)},
                                       {"unroll", unroll_},
                                       {"top", number(32 - 32 / per)}})},
                {"result", result_text()},
                {"store", to_.plane(self).pixel() + " = (" + type_of(node_.cls) + ")found;"}});
    to_.kernel("store_" + Builder::name(self), items, text,
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
    std::int64_t strip = most_strip;
    while (strip > least_strip && size.width * size.height < strip * enough) strip /= 2;
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
    to_.function(name_ + "_key", "FUNCTION uint " + name_ +
                                     "_key(GIVEN, const int x, const int y) " + "{\n  return " +
                                     key + ";\n}\n");
  }

  std::string key_text(const std::string& value) const {
    return node_.cls == PixelClass::single ? "key_of_single(" + value + ")" : "(uint)" + value;
  }

  void write_row() {
    const Mask& mask = rank_.mask;
    const PlaneText plane = to_.plane(image_);
    std::string rule;
    if (rank_.border == Border::constant) {
      rule = "if (y < 0 || y >= " + to_.height(image_) + ") {\n    for (int k = 0; k < " +
             number(words()) + "; ++k) f[k] = (uint)" + outside_ +
             " * 0x01010101u;\n    return;\n  }";
    } else {
      rule = "y = " + std::string(name_of(rank_.border)) + "(y, " + to_.height(image_) + ");";
    }
    const std::string at = to_.call(name_ + "_at", "first + 4 * k + j", "y");
    to_.function(name_ + "_row", filled(row_function, {{"row_name", name_ + "_row"},
                                                       {"words", number(words())},
                                                       {"left", number(mask.origin_x)},
                                                       {"row_rule", rule},
                                                       {"wide", number(mask.width)},
                                                       {"width", to_.width(image_)},
                                                       {"stride", plane.stride},
                                                       {"plane", plane.row("y")},
                                                       {"unroll", unroll_},
                                                       {"at", at}}));
  }

  void write_rest() {
    const auto step = [](const std::string& key) {
      return "const uint key = " + key +
             "; if (key >> (shift + 4) == found) DIGIT(key >> shift & 15u) += 1;";
    };
    const Mask& mask = rank_.mask;
    const Footprint f = mask.footprint();
    const std::string key = to_.call(name_ + "_key", "x + dx", "y + dy");
    const std::string inner = key_text(to_.value(image_, "x + dx", "y + dy"));
    to_.function(name_ + "_rest",
                 filled(rest_function, {{"rest_name", name_ + "_rest"},
                                        {"rest", number(rest_bits())},
                                        {"left", number(f.left)},
                                        {"right", number(f.right)},
                                        {"up", number(f.up)},
                                        {"down", number(f.down)},
                                        {"width", to_.width(image_)},
                                        {"height", to_.height(image_)},
                                        {"inner", for_each_cell(to_, name_, mask, step(inner))},
                                        {"cells", for_each_cell(to_, name_, mask, step(key))}}));
  }

  int words() const { return (rank_.mask.width + 3) / 4; }

  std::string rows_text() {
    const Mask& mask = rank_.mask;
    return filled(rows_loop, {{"words", number(words())},
                              {"up", number(mask.origin_y)},
                              {"down", number(mask.height - 1 - mask.origin_y)},
                              {"tall", number(mask.height)},
                              {"unroll", unroll_},
                              {"wide", number(mask.width)},
                              {"row_name", name_ + "_row"}});
  }

  std::string cells_text() {
    const std::string top = rest_bits() > 0 ? " >> " + number(rest_bits()) : "";
    const auto moved = [&](const char* which, const Mask& mask, const char* y, const char* sign) {
      const std::string key = to_.call(name_ + "_key", "x + dx", y);
      return "  {\n" +
             for_each_cell(to_, name_ + which, mask,
                           "const uint code = " + key + top + "; COUNT(code) " + sign +
                               "= 1; below " + sign + "= code < place ? 1 : 0;") +
             "  }\n";
    };
    return filled(cells_loop,
                  {{"all", moved("_all", rank_.mask, "y + dy", "+")},
                   {"leaving", moved("_leaving", edge(rank_.mask, -1), "y - 1 + dy", "-")},
                   {"entering", moved("_entering", edge(rank_.mask, 1), "y + dy", "+")}});
  }

  // Moves `place` up by single codes to the one that the rank is in.
  static std::string steps(const std::string& place, const std::string& below, int rank) {
    return "      for (int count = COUNT(" + place + "); " + below + " + count <= " + number(rank) +
           ";\n           count = COUNT(" + place + ")) {\n        " + below +
           " += count;\n        ++" + place + ";\n      }\n";
  }

  // `found`: the value from place and below; with an average also that of the next.
  std::string result_text() {
    const bool single = node_.cls == PixelClass::single;
    const std::string type = single ? "float" : "uint";
    const auto value = [&](const char* place, const std::string& rank) {
      std::string key = place;
      if (rest_bits() > 0) {
        key = name_ + "_rest(GIVE, digits, x, y, " + place + ", " + rank + ")";
      }
      return single ? "single_of_key(" + key + ")" : key;
    };
    const bool plain = rest_bits() == 0 && !rank_.average;
    std::string text;
    if (plain) {
      text = "      const uint more = (uint)(" + number(rank_.rank) + " - below);\n" +
             "      const uint found = place";
      for (int k = 0; k + 1 < (small_ ? 4 : 2); ++k) {
        text += " + ((sums >> " + number(small_ ? 8 * k : 16 * k) + " & " +
                (small_ ? "255u" : "65535u") + ") <= more ? 1u : 0u)";
      }
      return text + ";\n";
    }
    text = "      uint at = place;\n      int below_at = below;\n" +
           steps("at", "below_at", rank_.rank) + "      " + type +
           " found = " + value("at", number(rank_.rank) + " - below_at") + ";\n";
    if (!rank_.average) return text;
    const std::string next = number(rank_.rank + 1);
    text += "      uint place_after = at;\n      int below_after = below_at;\n" +
            steps("place_after", "below_after", rank_.rank + 1) + "      const " + type +
            " after = " + value("place_after", next + " - below_after") + ";\n";
    return text + (single ? "      found = (found + after) / 2.0f;\n"
                          : "      found = (found + after + 1u) / 2u;\n");
  }

  Builder& to_;
  int n_;
  const Rank& rank_;
  const Node& node_;
  Operand image_;
  std::string name_, outside_;
  int cells_;
  bool small_;
  std::string unroll_;
};

}  // namespace

void write_rank_histogram(Builder& to, int n) { RankHistogram(to, n).write(); }

}  // namespace impipe::jit
