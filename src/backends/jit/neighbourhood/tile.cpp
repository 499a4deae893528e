// Rows, then columns in one kernel, with the row pass of a tile in local memory.
//
// The row pass is an image of its own: rows of the tile that lie outside the image get what the
// border rule makes of the row pass's own values, which is the row pass of another row, or a
// constant.
#include <algorithm>
#include <deque>
#include <numeric>
#include <set>

#include "backends/jit/block/block_parts.hpp"
#include "backends/jit/block/windows.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/plan/form.hpp"
#include "backends/jit/plan/point_plan.hpp"
#include "backends/jit/text/builder.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {
namespace {

// Groups of a tile on a processor: 64 registers each, where there are 64 K of them; 48 do for short
// columns, though NVIDIA's OpenCL spills then (168 us against 148 at a radius of 3).
constexpr int groups_at_once = 4, groups_of_short_columns = 5;
// Of those whose registers keep what several nodes are, in small blocks or packed to bytes (and of
// long windows, whose tiles fill local memory), and others.
constexpr int groups_in_turn = 3, groups_of_large_blocks = 2;
// Registers for rows that a work-item loads before it makes the first of them.
constexpr int max_ahead = 36;

int multiple_of_4(int n) { return (n + 3) / 4 * 4; }

// The plane that row passes read: the image, or what points make it of on the way.
Operand read_of(const Builder& builder, const KernelPlan& plan, const Operand& image) {
  if (image.external || plan.form<Inlined>(image.index) == nullptr) return image;
  return plan.node(image.index).codes.value_or(builder.node(image.index).images[0]);
}

// Both passes of one node.
class PassesWriter {
 public:
  // self: the node that the kernel stores. value: of `code`, a pixel of the plane that the row pass
  // reads, by the points on the way; by_table: as a byte, which it is the place of, not as a
  // number. first_vector: of the tile.
  PassesWriter(Builder& builder, const KernelPlan& plan, int inner, const TileSize& size,
               const Operand& self, std::string value, bool by_table, int first_vector)
      : builder_(builder),
        plan_(plan),
        inner_(inner),
        self_(self),
        size_(size),
        passes_(*Passes::of(builder.node(inner))),
        image_(builder.node(inner_).images[0]),
        read_(read_of(builder, plan, image_)),
        value_(std::move(value)),
        takes_numbers_(!by_table && bytes_of(builder.cls(read_)) == 1),
        first_vector_(first_vector),
        own_(Builder::name({false, inner_})),
        window_{"w_" + own_, 1, 0, multiple_of_4(passes_.row.footprint().left)} {
    window_.width = window_.first + size_.row_px + multiple_of_4(passes_.row.footprint().right);
  }

  // Writes both passes, for the texts below.
  void write() {
    write_row_pass();
    columns_ = column_pass();
  }
  // What fills local memory with what points make for the row pass, if they do.
  const std::string& points() const { return points_; }
  // Whether the row passes of both are made in one loop, of rows that are loaded before.
  bool goes_along_with(const PassesWriter& other) const {
    return ahead_ > 1 && ahead_ == other.ahead_ &&
           builder_.cls(read_) == builder_.cls(other.read_) && passes_ == other.passes_;
  }
  const Operand& read() const { return read_; }
  // Registers for those rows.
  int words_ahead() const { return ahead_ * window_.width / in_loaded_word(); }
  // The row passes of this and of others in its loop.
  std::string row_passes(const std::vector<const PassesWriter*>& others) const {
    std::string any = in_own_tile(any_rows_), loads = load_rows(), ahead = row_ahead_;
    std::vector<Operand> loaded = {read_};
    for (const PassesWriter* other : others) {
      any += other->in_own_tile(other->any_rows_);
      ahead += other->row_ahead_;
      if (std::ranges::count(loaded, other->read_) > 0) continue;
      loads += other->load_rows();
      loaded.push_back(other->read_);
    }
    return ahead_ > 1 ? rows_inside(any, loads, ahead) : any;
  }
  // Both passes, and which block is the work-item's.
  std::string both() const {
    return text("passes",
                {{"row_pass", row_passes({})}, {"place", place()}, {"columns", columns_}});
  }
  // The column pass where those of other nodes follow: what is made is kept_NAME.
  std::string kept_columns() const {
    const int block = size_.px * size_.py;
    const std::string all = "all_" + own_;
    const std::string codes =
        in_word() == 1
            ? ""
            : row_of_floats(builder_, all, inner().cls, block, "made_" + own_ + "[k]").text;
    const std::string kept = in_word() == 1                     ? "made_" + own_ + "[k]"
                             : inner().cls == PixelClass::uint8 ? "words_" + all + "[k]"
                                                                : joined_codes(all);
    return text("in_turn", {{"columns", columns_},
                            {"word", in_word() == 1 ? "float" : "uint"},
                            {"kept_words", number(block / in_word())},
                            {"codes", codes},
                            {"kept", kept},
                            {"pin", in_word() == 1 ? "PIN_FLOAT" : "PIN_WORD"}});
  }
  // Word k of an array of codes.
  std::string joined_codes(const std::string& codes) const {
    std::string word;
    for (int i = 0; i < in_word(); ++i) {
      const std::string code =
          "(uint)" + codes + "[" + number(in_word()) + " * k + " + number(i) + "]";
      word += i == 0 ? code : " | " + code + " << " + number(i * 32 / in_word());
    }
    return word;
  }
  std::string place() const { return text("place"); }

  // Row r of what columns have made, as the node's class has it: the array b_NAME.
  Row made() const {
    return row_of_floats(builder_, "b_" + own_, inner().cls, size_.px,
                         "made_" + own_ + place_in_row());
  }
  // The same of what is kept.
  Row kept() const {
    const std::string word = "kept_" + own_ + "[(r * " + number(size_.px) + " + k) / ";
    switch (in_word()) {
      case 4: return row_of_codes(word + "4]", "BYTE_OF($word, k % 4)");
      case 2: return row_of_codes(word + "2]", "($word >> 16 * (k % 2))");
      default:
        return row_of_floats(builder_, "b_" + own_, inner().cls, size_.px,
                             "kept_" + own_ + place_in_row());
    }
  }
  int made_node() const { return inner_; }
  int column_height() const { return passes_.column.height; }
  bool has_short_sums() const { return passes_.sums && passes_.column.height <= short_column; }

 private:
  std::string text(std::string_view name, Replacements own = {}) const {
    return words_.filled(part(kernels::tile, name), own);
  }
  const Node& inner() const { return builder_.node(inner_); }
  // Pixels of the node in a word that is kept.
  int in_word() const { return 4 / bytes_of(inner().cls); }
  std::string place_in_row() const { return "[r * " + number(size_.px) + " + k]"; }
  Row row_of_codes(const std::string& word, const std::string& code) const {
    return row_of_pixels(builder_, "b_" + own_, inner().cls, size_.px,
                         "(" + type_of(inner().cls) + ")" + filled(code, {{"word", word}}));
  }
  bool largest() const { return as<Extremum>(inner())->largest; }
  std::string found() const { return largest() ? "largest_found" : "smallest_found"; }
  Footprint reach() const { return passes_.row.footprint(); }
  int items_a_row() const { return size_.width() / size_.row_px; }
  int rows_at_once() const { return tile_items / items_a_row(); }

  // Whether work-items that store eight floats, two vectors, take turns which of them comes first:
  // eight of them side by side store to all banks then. Such vectors stand at each other's place.
  bool takes_turns() const { return passes_.sums && size_.row_px == 8; }
  std::string turns() const { return takes_turns() ? "1" : "0"; }

  // What stands outside the image, where that is a constant.
  std::string outside() const {
    if (passes_.sums) return outside_value(builder_, inner_, passes_.border);
    return largest() ? "-INFINITY" : "INFINITY";
  }
  // Pixel `code` of that plane as the window has it.
  std::string element() const { return "(float)" + value_; }
  bool constant_outside() const {
    return passes_.border == Border::constant || passes_.border == Border::absent;
  }
  // The widest loads of rows of windows.
  int alignment() const {
    const int bytes = bytes_of(builder_.cls(read_));
    return std::gcd(builder_.tuning().load_bytes,
                    std::gcd(window_.first * bytes, size_.row_px * bytes));
  }

  std::string in_own_tile(const std::string& rows) const {
    return text("own_tile", {{"row_pass", rows}});
  }

  void write_row_pass() {
    const bool points = plan_.in_groups(image_);
    builder_.width(image_), builder_.height(image_);
    const std::string edge = own_ + "_row_edge";
    if (!points) {
      write_border(builder_, edge, "float", builder_.value(image_, "x", "y"), passes_.border,
                   outside(), builder_.width(image_), builder_.height(image_), true, false);
    }
    const std::string window = points           ? row_of_points()
                               : size_.streamed ? long_row(edge)
                                                : row_window(edge);
    const std::string pass = this->pass();
    any_rows_ = text("any_rows", {{"window", window}, {"pass", pass}});
    ahead_ = points || size_.streamed ? 0 : rows_ahead();
    row_ahead_ =
        text("row_ahead", {{"ahead_pixel", pixel_ahead()}, {"element", element()}, {"pass", pass}});
  }

  // The window of a row, from the image.
  std::string row_window(const std::string& edge) {
    const std::string raw = "raw_" + Builder::name(read_);
    return text("window",
                {{"plane", Builder::name(read_)},
                 {"row_from", builder_.plane(read_).row("y")},
                 {"load", wide_load(builder_.cls(read_), "from_" + raw, raw, 0, window_.width,
                                    alignment())},
                 {"element", element()},
                 {"reach", number(size_.row_px + reach().left + reach().right)},
                 {"margin", number(window_.first - reach().left)},
                 {"edge", builder_.call(edge, "edge_x + i - " + number(reach().left), "y")}});
  }

  std::string row_weights() {
    return weights(builder_, inner_, "row_weights", 0, passes_.row.count());
  }
  std::string column_weights() {
    return weights(builder_, inner_, "column_weights", passes_.row.count(), passes_.column.count());
  }
  std::string some_unrolled() const { return builder_.tuning().unroll ? unroll_pragma(4) : ""; }

  // The work-item's pixels of a row, along a window of any length.
  std::string long_row(const std::string& edge) {
    const int taps = passes_.row.width, margin = window_.first - reach().left;
    // Quads whose pixels are taps of all of the work-item's pixels.
    const int first = (margin + size_.row_px + 2) / 4, end = (taps + margin) / 4;
    const PixelClass cls = builder_.cls(read_);
    const std::string load =
        takes_numbers_
            ? word_access(true, "(GLOBAL const uchar*)(from_row + 4 * q)", "four", 0, 4, 4, 4)
            : wide_load(cls, "from_row + 4 * q", "four", 0, 4,
                        std::min(builder_.tuning().load_bytes, 4 * bytes_of(cls)));
    const auto quads = [&](int from, int to, bool all) {
      return text("quads_of_row",
                  {{"first_quad", number(from)},
                   {"end_quad", number(to)},
                   {"quad_unroll", all ? some_unrolled() : builder_.unroll()},
                   {"all_taps", all ? "1" : "0"},
                   {"once_for_all", all && passes_.any_order ? "1" : "0"},
                   {"tap_count", number(taps)},
                   {"margin", number(margin)},
                   {"weights", row_weights()},
                   {"load_four", load},
                   {"word", takes_numbers_ ? "uint" : type_of(cls)},
                   {"pixel_of_four", takes_numbers_ ? "FLOAT_OF_BYTE(four[0], n)" : "four[n]"},
                   {"element", element()}});
    };
    return text("long_row",
                {{"row_from", builder_.plane(read_).row("y")},
                 {"quads_of_row", quads(0, first, false) + quads(first, end, true) +
                                      quads(end, window_.width / 4, false)},
                 {"reach", number(size_.row_px + reach().left + reach().right)},
                 {"plain", passes_.any_order ? "1" : "0"},
                 {"tap_count", number(taps)},
                 {"weights", row_weights()},
                 {"edge_of_row", builder_.call(edge, "x0 + n - " + number(reach().left), "y")}});
  }

  // The same where points make the pixels: of row j of a tile of theirs.
  std::string row_of_points() {
    const PointTile tile = point_tile(builder_.context(), image_, size_, passes_);
    const bool whole = tile.bytes < 4;
    const Block block{builder_, plan_, inner_, {}, image_, tile_items};
    points_ = points_in_tile(block, tile, image_, "points_" + own_,
                             whole ? type_of(builder_.cls(image_)) : "float", passes_.border,
                             whole ? "0" : outside());
    std::string elements;
    for (int k = 0; k < 4; ++k) {
      elements += assigned(window_.array + "[4 * q + " + number(k) + "]",
                           "(float)" + element_of(tile, "v", k));
    }
    // Whole numbers can't say what stands outside.
    return text("points", {{"quads", number(window_.width / 4)},
                           {"vector", vector_type(tile, "float")},
                           {"points_across", number(tile.width / 4)},
                           {"row_quads", number(size_.row_px / 4)},
                           {"shift", number((tile.halo - window_.first) / 4)},
                           {"elements", elements},
                           {"fixed", whole && constant_outside() ? "1" : "0"},
                           {"left", number(reach().left)}});
  }

  std::string pass() {
    const int px = size_.row_px;
    std::string made, stores;
    if (size_.streamed) {
      // It is made.
    } else if (passes_.any_order && !is_short_box(passes_.row.width)) {
      made = array_of("float", "made", px) + running_row();
    } else if (passes_.sums) {
      made =
          declared("const int", "r", "0") + weighted_row(builder_, "made", px, window_, passes_.row,
                                                         row_weights(), PixelClass::single)
                                                .text;
    } else {
      made = array_of("float", "made", px) + folds(window_.array, window_.width,
                                                   window_.first - reach().left, 1,
                                                   passes_.row.width, px, "made", "row_");
    }
    for (int q = 0; q < px / 4; ++q) {
      const std::string place = !takes_turns() ? number(q) : q == 0 ? "turn" : "1 - turn";
      stores += four_elements("to[" + place + "]",
                              [&](int k) { return "made[" + number(4 * q + k) + "]"; });
    }
    return text("pass", {{"made", made}, {"stores", stores}});
  }

  // Running sums along a row: add the entering, subtract the leaving pixel.
  std::string running_row() const {
    const auto value = [&](int k) {
      return window_.array + "[" + number(window_.first - reach().left + k) + "]";
    };
    std::string first = value(0), text;
    for (int k = 1; k < passes_.row.width; ++k) first += " + " + value(k);
    text += assigned("made[0]", first);
    for (int k = 1; k < size_.row_px; ++k) {
      text += assigned("made[" + number(k) + "]", "made[" + number(k - 1) + "] + (" +
                                                      value(k + passes_.row.width - 1) + " - " +
                                                      value(k - 1) + ")");
    }
    return text;
  }

  // Rows that a work-item loads before it makes the first of them, where the tile lies inside the
  // image with all it reads: those that registers have room for.
  int rows_ahead() const {
    if (!builder_.tuning().unroll) return 0;
    const int all = (size_.rows + rows_at_once() - 1) / rows_at_once();
    const int ahead =
        std::min(all, max_ahead * 4 / (window_.width * bytes_of(builder_.cls(read_))));
    if (ahead < 2) return 0;
    const int loops = (all + ahead - 1) / ahead;
    return (all + loops - 1) / loops;
  }

  // Pixel k of row u of those that are loaded: narrow ones stay in words until they are used.
  int in_loaded_word() const { return 4 / bytes_of(builder_.cls(read_)); }
  std::string pixel_ahead() const {
    const int in_word = in_loaded_word();
    const std::string word = ahead_name() + "[u * " + number(window_.width / in_word) + " + k";
    if (in_word == 1) return word + "]";
    if (takes_numbers_) return "FLOAT_OF_BYTE(" + word + " / 4], k % 4)";
    return "((" + word + " / " + number(in_word) + "] >> (" + number(32 / in_word) + " * (k % " +
           number(in_word) + "))) & " + (in_word == 4 ? "255u" : "65535u") + ")";
  }

  std::string ahead_name() const { return "ahead_" + Builder::name(read_); }

  // Several rows of the image into registers.
  std::string load_rows() const {
    const PixelClass cls = builder_.cls(read_);
    const PlaneText plane = builder_.plane(read_);
    const int words = window_.width / in_loaded_word();
    const bool floats = in_loaded_word() == 1;
    const std::string from = "from_" + Builder::name(read_);
    const std::string row = "(" + ahead_name() + " + u * " + number(words) + ")";
    return text("rows_ahead",
                {{"plane", Builder::name(read_)},
                 {"first_row", plane.row("(tile_y + first - $up)")},
                 {"stride", plane.stride},
                 {"word", floats ? "float" : "uint"},
                 {"ahead_words", number(ahead_ * words)},
                 {"ahead_rows", number(ahead_)},
                 {"load_ahead", floats ? wide_load(cls, from, row, 0, window_.width, alignment())
                                       : word_access(true, "(GLOBAL const uchar*)" + from, row, 0,
                                                     4 * words, alignment(), alignment())}});
  }

  // The row passes of a tile that lies inside the image with all it reads, or of any.
  std::string rows_inside(const std::string& any, const std::string& loads,
                          const std::string& rows) const {
    return text("row_pass",
                {{"tile_end", number(size_.width() + reach().right)},
                 {"tile_bottom", number(size_.height() + passes_.column.footprint().down)},
                 {"rows_a_turn", number(rows_at_once() * ahead_)},
                 {"ahead_rows", number(ahead_)},
                 {"rows_ahead", loads},
                 {"row_ahead", rows},
                 {"any_rows", any}});
  }

  // Extrema of `length` values, `stride` apart, from `first` on of the array: each length from half
  // of itself.
  std::string folds(const std::string& array, int size, int first, int stride, int length,
                    int count, const std::string& result, const std::string& prefix) const {
    if (length == 1) {
      return builder_.loop("k", count) +
             assigned(result + "[k]", array + "[k + " + number(first) + "]");
    }
    std::string text, from = array;
    for (int known = 1, next; known < length; known = next) {
      next = std::min(length, 2 * known);
      const bool last = next == length;
      const std::string name = last ? result : prefix + number(next);
      const int made = last ? count : size - first - (next - 1) * stride;
      const int shift = from == array ? first : 0;
      if (!last) text += array_of("float", name, made);
      const std::string best = (largest() ? "fmax(" : "fmin(") + from + "[k + " + number(shift) +
                               "], " + from + "[k + " + number(shift + (next - known) * stride) +
                               "])";
      text += builder_.loop("k", made) +
              assigned(name + "[k]", last ? found() + "(" + best + ")" : best);
      from = name;
    }
    return text;
  }

  // The block's columns from local memory: rows of made_NAME.
  std::string column_pass() {
    const int rows = size_.py + passes_.column.height - 1, px = size_.px;
    if (sums_codes(builder_.context(), inner_)) return box_columns();
    if (passes_.any_order) return text("running_columns", {{"taps", running_columns(rows)}});
    if (size_.streamed && passes_.column.height >= 2 * size_.py) return long_columns(rows);
    if (passes_.sums) return text("column_sums", {{"taps", column_taps(0, rows)}});
    return text("columns",
                {{"column_rows", number(rows)},
                 {"column_values", number(rows * px)},
                 {"folds", folds("column_" + own_, rows * px, 0, px, passes_.column.height,
                                 size_.py * px, "made_" + own_, "column_")}});
  }

  // A row of the tile that is near, v.
  std::string column_row(int row) const {
    std::string text;
    for (int k = 0; k < size_.px; k += 4) {
      const std::string four = "v" + number(k);
      text +=
          declared("const float4", four, "column[" + number((row * size_.width() + k) / 4) + "]");
      for (int i = k; i < k + 4; ++i) {
        text += assigned("v[" + number(i) + "]", four + "." + "xyzw"[i - k]);
      }
    }
    return text;
  }

  // Running sums down a column: add the entering, subtract the leaving row.
  std::string running_columns(int rows) {
    const int px = size_.px, height = passes_.column.height;
    const std::string sums = "made_" + own_;
    std::string text = array_of("float", "gone", px * size_.py);
    for (int row = 0; row < rows; ++row) {
      const auto place = [&](int r) { return "[" + number(r * px) + " + k]"; };
      std::string step = builder_.loop("k", px);
      std::string each;
      if (row < size_.py) each += assigned("gone" + place(row), "v[k]");
      const int made = row - height + 1;
      if (made <= 0) {
        each += assigned(sums + place(0), sums + place(0) + " + v[k]");
      } else {
        each += assigned(sums + place(made),
                         sums + place(made - 1) + " + (v[k] - gone" + place(made - 1) + ")");
      }
      text += braced(array_of("float", "v", px) + column_row(row) + step + braced(each));
    }
    return text;
  }

  // Whether the sums of a box of integer pixels cost less one by one than as running sums.
  bool is_short_box(int length) const {
    constexpr int longest = 12;
    return sums_codes(builder_.context(), inner_) && length <= longest;
  }

  std::string box_columns() {
    const int cells = passes_.row.width * passes_.column.height, block = size_.px * size_.py;
    const bool in_floats = cells * class_max(builder_.cls(image_)) <= 0x1p24;
    if (in_floats && is_short_box(passes_.column.height)) {
      const std::string rows = column_taps(0, size_.py + passes_.column.height - 1, true);
      return text("column_sums", {{"taps", rows}}) + builder_.loop("k", block) +
             assigned("made_" + own_ + "[k]", "made_" + own_ + "[k] * " + column_weights() + "[0]");
    }
    return text("box_columns", {{"sum", in_floats ? "float" : "int"},
                                {"quad_unroll", some_unrolled()},
                                {"tap_count", number(passes_.column.height)},
                                {"weights", column_weights()}});
  }

  std::string long_columns(int rows) {
    const int height = passes_.column.height;
    return text("long_columns", {{"first_taps", column_taps(0, size_.py - 1)},
                                 {"last_taps", column_taps(height, rows)},
                                 {"quad_unroll", rows_unrolled()},
                                 {"tap_count", number(height)},
                                 {"weights", column_weights()}});
  }
  // Clang spills hundreds of registers where it unrolls these rows, be it by two.
  std::string rows_unrolled() const {
    return builder_.features().limits_registers ? some_unrolled() : unroll_pragma(1);
  }

  // Each of these rows of the tile is a tap of every row of the block that is near. ones: of
  // weight 1.
  std::string column_taps(int first, int end, bool ones = false) {
    const int px = size_.px, height = passes_.column.height;
    const std::string sums = "made_" + own_, weight = column_weights();
    std::vector<int> weight_of;
    for (int y = 0, k = 0; y < height; ++y) {
      weight_of.push_back(passes_.column.at(0, y) ? k++ : -1);
    }
    std::string text;
    for (int row = first; row < end; ++row) {
      std::string taps = array_of("float", "v", px) + column_row(row);
      for (int r = std::max(0, row - height + 1); r <= std::min(row, size_.py - 1); ++r) {
        const int tap = weight_of[static_cast<std::size_t>(row - r)];
        if (tap < 0) continue;
        const std::string sum = sums + "[" + number(r * px) + " + k]";
        taps += builder_.loop("k", px) +
                assigned(sum, ones ? sum + " + v[k]"
                                   : "fma(" + weight + "[" + number(tap) + "], v[k], " + sum + ")");
      }
      text += braced(taps);
    }
    return text;
  }

  Builder& builder_;
  const KernelPlan& plan_;
  int inner_;
  Operand self_;
  TileSize size_;
  Passes passes_;
  Operand image_, read_;  // of the row pass
  std::string value_;
  bool takes_numbers_;  // bytes become floats as they leave their words
  int first_vector_;
  int ahead_ = 0;  // rows that are loaded before the first is made; less than two: none
  std::string own_;
  Window window_;                               // of a work-item's pixels of a row
  std::string any_rows_, row_ahead_, columns_;  // parts of both passes
  std::string points_;  // text that fills local memory with the pixels that points compute
  const Substitutions words_{{
      {"own", [this] { return own_; }},
      {"pixel", [this] { return type_of(builder_.cls(read_)); }},
      {"code", [this] { return takes_numbers_ ? "float" : type_of(builder_.cls(read_)); }},
      {"width", [this] { return builder_.width(image_); }},
      {"height", [this] { return builder_.height(image_); }},
      {"to_width", [this] { return builder_.width(self_); }},
      {"to_height", [this] { return builder_.height(self_); }},
      {"tile_width", [this] { return number(size_.width()); }},
      {"tile_height", [this] { return number(size_.height()); }},
      {"rows", [this] { return number(size_.rows); }},
      {"up", [this] { return number(passes_.column.footprint().up); }},
      {"down", [this] { return number(passes_.column.footprint().down); }},
      {"row_px", [this] { return number(size_.row_px); }},
      {"items_a_row", [this] { return number(items_a_row()); }},
      {"rows_at_once", [this] { return number(rows_at_once()); }},
      {"first_vector", [this] { return number(first_vector_); }},
      {"px", [this] { return number(size_.px); }},
      {"py", [this] { return number(size_.py); }},
      {"block", [this] { return number(size_.px * size_.py); }},
      {"across", [this] { return number(size_.across); }},
      {"turns", [this] { return turns(); }},
      {"first", [this] { return number(window_.first); }},
      {"wide", [this] { return number(window_.width); }},
      {"end", [this] { return number(size_.row_px + reach().right); }},
      {"constant", [this] { return std::string(constant_outside() ? "1" : "0"); }},
      {"outside", [this] { return outside(); }},
      {"rule", [this] { return std::string(name_of(passes_.border)); }},
      {"unroll", [this] { return builder_.unroll(); }},
      {"once", [this] { return builder_.tuning().unroll ? unroll_pragma(1) : ""; }},
  }};
};

using Writers = std::deque<PassesWriter>;  // they refer to themselves

// What the passes have made, as rows for the points after them.
void add_rows(const Writers& writers, BlockParts& parts) {
  for (const PassesWriter& writer : writers) {
    parts.add({false, writer.made_node()},
              made_row(row_name({false, writer.made_node()}),
                       writers.size() > 1 ? writer.kept() : writer.made()));
  }
}

// The block's points with their quotients by reciprocals, stored if all of them are exact: a true
// division is a branch.
std::string rows_by_reciprocals(const Block& block, const Writers& writers,
                                const PlaneText& plane) {
  if (!block.beside.empty() || !block.builder.tuning().unroll) return "";
  Quotients quotients{.any_white = true};
  BlockParts parts(block, {}, &quotients);
  add_rows(writers, parts);
  const std::string array = parts.row_of({false, block.root}).array;
  return quotients.found ? quick_rows(block, quotients, parts.text().rows, array, plane) : "";
}

// Whether the points after the passes take registers beside the sums: quotients and powers that no
// table has.
bool take_registers(const Builder& builder, const KernelPlan& plan, const std::vector<int>& inners,
                    const Operand& operand) {
  if (operand.external || std::ranges::count(inners, operand.index) > 0) return false;
  const int n = operand.index;
  if (as<Point>(builder.node(n)) == nullptr) return false;
  if (const auto& codes = plan.node(n).codes) return take_registers(builder, plan, inners, *codes);
  return divides_or_raises(builder.context(), n) ||
         std::ranges::any_of(builder.node(n).images, [&](const Operand& image) {
           return take_registers(builder, plan, inners, image);
         });
}

// Both passes of several nodes, one after the other in one tile.
std::string passes_in_turn(const Writers& writers) {
  std::string text;
  for (const PassesWriter& writer : writers) {
    if (!text.empty()) text += statement("BARRIER");
    text += writer.row_passes({}) + statement("BARRIER") + writer.kept_columns();
  }
  return text;
}

// The same, each in a tile of its own.
std::string passes_together(const Writers& writers) {
  std::string rows, columns;
  std::set<const PassesWriter*> made;
  for (const PassesWriter& writer : writers) {
    columns += writer.kept_columns();
    if (!made.insert(&writer).second) continue;
    std::vector<const PassesWriter*> others;
    std::vector<Operand> loaded = {writer.read()};
    for (const PassesWriter& other : writers) {
      if (!writer.goes_along_with(other) || made.contains(&other)) continue;
      if (std::ranges::count(loaded, other.read()) == 0) {
        if (static_cast<int>(loaded.size() + 1) * writer.words_ahead() > max_ahead) continue;
        loaded.push_back(other.read());
      }
      made.insert(&other);
      others.push_back(&other);
    }
    rows += writer.row_passes(others);
  }
  return rows + statement("BARRIER") + columns;
}

// Adds the writer of a node's passes, the next of those of a tile.
void add_writer(Builder& builder, const KernelPlan& plan, int n, int inner, BlockParts& parts,
                Writers& writers) {
  const TwoPasses& two = *plan.form<TwoPasses>(n);
  const Operand image = builder.node(inner).images[0], read = read_of(builder, plan, image);
  const bool made = read != image;
  const bool by_table = made && !takes_few_steps(builder.context(), image.index);
  std::string value = "code";
  if (by_table) {
    value = parts.table_of(image.index, read) + "[code]";
  } else if (made) {
    value = point_value(builder, image.index, [](const Operand&) { return std::string("code"); });
  }
  const int before = two.together ? static_cast<int>(writers.size()) : 0;
  writers.emplace_back(builder, plan, inner, two.size, Operand{false, n}, value, by_table,
                       before * two.size.vectors());
  writers.back().write();
}

void write_tile_kernel(Builder& builder, const KernelPlan& plan, int n) {
  const auto& [inners, size, together, beside] = *plan.form<TwoPasses>(n);
  const Operand self{false, n};
  const bool in_turn = inners.size() > 1;
  const Block block{
      builder, plan, n, {.px = size.px, .py = size.py}, {false, inners[0]}, builder.tuning().group,
      beside};
  BlockParts parts(block);
  Writers writers;
  std::string points;
  for (const int inner : inners) {
    add_writer(builder, plan, n, inner, parts, writers);
    points += writers.back().points();
  }
  add_rows(writers, parts);
  const StoredRow row = stored_rows(block, parts);
  const std::string stored =
      rows_by_reciprocals(block, writers, row.plane) + rows_text(block, parts.text(), row);
  const PassesWriter& last = writers.back();
  const std::string passes = together  ? passes_together(writers) + last.place()
                             : in_turn ? passes_in_turn(writers) + last.place()
                                       : last.both();
  const int vectors = size.vectors() * (together ? static_cast<int>(inners.size()) : 1);
  const bool asked = 16 * vectors > builder.tuning().local_bytes;
  const bool small = last.column_height() <= (bytes_of(builder.node(inners[0]).cls) == 1 ? 17 : 9);
  const bool two = together && inners.size() == 2;
  const int groups_kept = !small ? groups_of_large_blocks : two ? groups_at_once : groups_in_turn;
  const bool spills = builder.features().spills;
  const int groups_of_streamed = spills ? 2 : groups_in_turn;
  const bool dense =
      !in_turn && last.has_short_sums() && !spills && !take_registers(builder, plan, inners, self);
  builder.kernel("store_" + Builder::name(self), tile_items,
                 filled(part(kernels::tile, "kernel"), {{"vectors", number(vectors)},
                                                        {"asked", asked ? "1" : "0"},
                                                        {"tables", points + parts.text().tables},
                                                        {"tile_width", number(size.width())},
                                                        {"tile_height", number(size.height())},
                                                        {"passes", passes},
                                                        {"stored", stored}}),
                 launch_tiles(self, size.width(), size.height(), tile_items),
                 in_turn         ? groups_kept
                 : size.streamed ? groups_of_streamed
                 : dense         ? groups_of_short_columns
                                 : groups_at_once,
                 asked ? 16 * vectors : 0);
}

Offer offer_two_passes(const FormQuestion& question) {
  const KernelContext& context = question.context;
  const std::optional<TwoPasses> two = two_passes_of(context, question.planes, question.n);
  if (!two) return vetoed("no tile holds a row pass that it is made of");
  const Passes passes = *Passes::of(context.node(two->inners[0]));
  const double rows = double(two->size.rows) / two->size.height();
  const double each = passes.row.count() * rows + passes.column.count();
  const auto count = static_cast<double>(two->inners.size());
  return {
      .work = {.bytes = bytes_moved(context, question.n), .operations = count * (20 + 1.5 * each)},
      .form = *two,
      .reason = "local memory holds the row pass"};
}

}  // namespace

const FormRow two_passes_form = {"both passes in tiles", offer_two_passes,
                                 [](Builder& builder, const KernelPlan& plan, int n) -> LaunchTest {
                                   write_tile_kernel(builder, plan, n);
                                   return nullptr;
                                 }};

}  // namespace impipe::jit
