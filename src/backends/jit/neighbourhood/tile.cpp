// Rows, then columns in one kernel, with the row pass of a tile in local memory.
//
// The row pass is an image of its own: rows of the tile that lie outside the image get what the
// border rule makes of the row pass's own values, which is the row pass of another row, or a
// constant.
#include "backends/jit/neighbourhood/tile.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "backends/jit/block/block_writer.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {
namespace {

// Groups of a tile on a processor: 64 registers each, where there are 64 K of them; 48 do for short
// columns, though NVIDIA's OpenCL spills then (168 us against 148 at a radius of 3).
constexpr int groups_at_once = 4, groups_of_short_columns = 5;
// Registers for rows that a work-item loads before it makes the first of them.
constexpr int most_ahead = 36;

int multiple_of_4(int n) { return (n + 3) / 4 * 4; }

class TileWriter : public BlockWriter {
 public:
  TileWriter(Builder& to, const KernelPlan& plan, int n, const TwoPasses& two)
      : BlockWriter(to, plan, n, {two.size.row_px, 1}, {false, two.inner}),
        n_(n),
        inner_(two.inner),
        size_(two.size),
        passes_(*Passes::of(to.node(two.inner))) {}

  void write() {
    const std::string rows = row_phase();
    px_ = size_.px;
    py_ = size_.py;
    const std::string columns = column_phase();
    const Operand self{false, n_};
    const std::string array = centre(self);
    const std::string height = to_.height(self), width = to_.width(self);
    const std::string text =
        "  LOCAL float4 tile4[" + number(size_.rows * row_values() / 4) +
        "];\n  IN_LOCAL float* const tile = (IN_LOCAL float*)tile4;\n" + tables_ +
        "  const int tile_x = GROUP_X * " + number(size_.width()) + ", tile_y = GROUP_Y * " +
        number(size_.height()) + ";\n" + rows + "  BARRIER;\n" +
        "  const int x0 = tile_x + ITEM % " + number(size_.across) + " * " + number(px_) +
        ", first_row = ITEM / " + number(size_.across) + " * " + number(py_) +
        ";\n  const int y0 = tile_y + first_row;\n  if (x0 >= " + width + " || y0 >= " + height +
        ") return;\n  const int whole = x0 + " + number(px_) + " <= " + width + ";\n" + columns +
        rows_text(array, to_.plane(self), to_.node(n_).cls, height);
    const TileSize size = size_;
    const bool short_sums = passes_.sums && passes_.column.height <= short_column &&
                            to_.dialect() != Dialect::opencl_nvidia;
    to_.kernel(
        "store_" + Builder::name(self), tile_items, text,
        [self, size](const LaunchContext& at) {
          const Size s = at.size_of(self);
          return LaunchShape{{(s.width + size.width() - 1) / size.width(),
                              (s.height + size.height() - 1) / size.height(), 1},
                             {tile_items, 1, 1}};
        },
        short_sums ? groups_of_short_columns : groups_at_once);
  }

 private:
  int row_values() const { return size_.width(); }
  std::string own() const { return Builder::name({false, inner_}); }
  const Node& inner() const { return to_.node(inner_); }
  bool largest() const { return as<Extremum>(inner())->largest; }
  std::string better() const { return largest() ? "fmax" : "fmin"; }
  std::string nothing() const { return largest() ? "-INFINITY" : "INFINITY"; }

  // What stands outside the image, where that is a constant.
  std::string outside() {
    return passes_.sums ? outside_value(to_, inner_, passes_.border) : nothing();
  }
  bool constant_outside() const {
    return passes_.border == Border::constant || passes_.border == Border::absent;
  }

  // The window of a row, from `image`.
  std::string row_window(const Operand& image, const Window& w, const std::string& edge) {
    if (plan_.in_groups(image)) return row_of_points(image, w);
    const Footprint f = passes_.row.footprint();
    const std::string raw = "raw_" + Builder::name(image);
    const PixelClass cls = to_.cls(image);
    const int bytes = bytes_of(cls);
    const int aligned = std::gcd(to_.tuning().load_bytes, std::gcd(w.first * bytes, px_ * bytes));
    return "      if (x0 >= " + number(w.first) + " && x0 + " + number(px_ + f.right) +
           " <= " + to_.width(image) + ") {\n      " + type_of(cls) + " " + raw + "[" +
           number(w.width) + "];\n      GLOBAL const " + type_of(cls) + "* const from_" + raw +
           " = " + to_.plane(image).row("y") + " + x0 - " + number(w.first) + ";\n" +
           wide_load(cls, "from_" + raw, raw, 0, w.width, aligned, "      ") + loop("k", w.width) +
           w.array + "[k] = (float)" + raw + "[k];\n      } else {\n" +
           loop("i", px_ + f.left + f.right) + w.array + "[" + number(w.first - f.left) +
           " + i] = " + to_.call(edge, "x0 + i - " + number(f.left), "y") + ";\n      }\n";
  }

  // The same where points make the pixels: of row j of a tile of theirs.
  std::string row_of_points(const Operand& image, const Window& w) {
    const PointTile tile = point_tile(to_.context(), image, size_, passes_);
    const std::string points = "points_" + own();
    items_ = tile_items;
    const bool whole = tile.bytes < 4;
    fill_points(tile, image, points, whole ? type_of(to_.cls(image)) : "float", passes_.border,
                whole ? "0" : outside());
    const int lanes = size_.width() / px_;
    std::string text = loop("q", w.width / 4) + "{\n        const " + vector_type(tile, "float") +
                       " v = " + points + "[j * " + number(tile.width / 4) + " + ITEM % " +
                       number(lanes) + " * " + number(px_ / 4) + " + " +
                       number((tile.halo - w.first) / 4) + " + q];\n";
    for (int k = 0; k < 4; ++k) {
      text += "        " + w.array + "[4 * q + " + number(k) + "] = (float)" +
              element_of(tile, "v", k) + ";\n";
    }
    text += "      }\n";
    if (!whole || !constant_outside()) return text;
    // Whole numbers can't say what stands outside.
    const Footprint f = passes_.row.footprint();
    const std::string first = "x0 - " + number(w.first);
    const std::string end = to_.width(image);
    return text + "      if (x0 < " + number(f.left) + " || x0 + " + number(px_ + f.right) + " > " +
           to_.width(image) + ") {\n" + loop("k", w.width) + "if (" + first + " + k < 0 || " +
           first + " + k >= " + end + ") " + w.array + "[k] = " + outside() + ";\n      }\n";
  }

  // The row pass of the tile's rows into local memory.
  std::string row_phase() {
    const Operand image = inner().images[0];
    const Footprint f = passes_.row.footprint();
    const std::string width = to_.width(image), height = to_.height(image);
    const std::string edge = own() + "_row_edge";
    if (!plan_.in_groups(image)) {
      write_border(to_, edge, "float", to_.value(image, "x", "y"), passes_.border, outside(), width,
                   height, true, false);
    }
    const int values = px_;
    Window w{"w_" + own(), 1, 0, multiple_of_4(f.left)};
    w.width = w.first + values + multiple_of_4(f.right);
    const std::string declared = "      float " + w.array + "[" + number(w.width) + "];\n";
    const std::string window = declared + row_window(image, w, edge);
    std::string pass;
    if (passes_.sums) {
      weighted("made", w, passes_.row, weights(to_, inner_, "row_weights", 0, passes_.row.count()),
               PixelClass::single);
      pass = "      const int r = 0;\n" + std::exchange(row_text_, {});
    } else {
      pass =
          "      float made[" + number(values) + "];\n" +
          folds(w.array, w.width, w.first - f.left, 1, passes_.row.width, values, "made", "row_");
    }
    const int lanes = row_values() / values;
    std::string to_tile = "float4* const to = tile4 + (j * " + number(row_values()) + " + ITEM % " +
                          number(lanes) + " * " + number(values) + ") / 4;\n";
    for (int k = 0; k < values; k += 4) {
      for (int i = 0; i < 4; ++i) {
        to_tile +=
            "      to[" + number(k / 4) + "]." + "xyzw"[i] + " = made[" + number(k + i) + "];\n";
      }
    }
    to_tile = "      IN_LOCAL " + to_tile;
    pass += to_tile;
    const int up = passes_.column.footprint().up, down = passes_.column.footprint().down;
    std::string text =
        std::string(to_.tuning().unroll ? "#pragma unroll 1\n" : "") + "  for (int j = ITEM / " +
        number(lanes) + "; j < " + number(size_.rows) + "; j += " + number(tile_items / lanes) +
        ") {\n    const int x0 = tile_x + ITEM % " + number(lanes) + " * " + number(px_) +
        ", row_y = tile_y + j - " + number(up) + ";\n    if (x0 >= " + width +
        " || row_y >= " + height + " + " + number(down) + ") continue;\n";
    if (constant_outside()) {
      const std::string value = outside();
      text += "    if (row_y < 0 || row_y >= " + height + ") {\n" + loop("k", values) +
              "tile[j * " + number(row_values()) + " + ITEM % " + number(lanes) + " * " +
              number(values) + " + k] = " + value +
              ";\n    } else {\n      const int y = row_y;\n" + window + pass + "    }\n  }\n";
    } else {
      text += "    {\n      const int y = " + std::string(name_of(passes_.border)) + "(row_y, " +
              height + ");\n" + window + pass + "    }\n  }\n";
    }
    const std::string inside = rows_inside(image, w, declared, pass);
    if (inside.empty()) return text;
    return "  if (tile_x >= " + number(w.first) + " && tile_x + " +
           number(size_.width() + f.right) + " <= " + width + " && tile_y >= " + number(up) +
           " && tile_y + " + number(size_.height() + down) + " <= " + height + ") {\n" + inside +
           "  } else {\n" + text + "  }\n";
  }

  // The row pass of a tile that lies inside the image with all it reads: each work-item loads
  // several rows before it makes the first of them. Empty where registers have no room for that.
  std::string rows_inside(const Operand& image, const Window& w, const std::string& declared,
                          const std::string& pass) {
    if (!to_.tuning().unroll || plan_.in_groups(image)) return "";
    const PixelClass cls = to_.cls(image);
    const int values = px_, lanes = row_values() / values, step = tile_items / lanes;
    const int turns = (size_.rows + step - 1) / step;
    int ahead = std::min(turns, most_ahead * 4 / (w.width * bytes_of(cls)));
    if (ahead < 2) return "";
    const int loops = (turns + ahead - 1) / ahead;
    ahead = (turns + loops - 1) / loops;
    const int aligned = std::gcd(to_.tuning().load_bytes,
                                 std::gcd(w.first * bytes_of(cls), values * bytes_of(cls)));
    const PlaneText plane = to_.plane(image);
    // Narrow pixels stay in words until they are used.
    const int in_word = 4 / bytes_of(cls), words = w.width / in_word;
    const std::string type = in_word == 1 ? "float" : "uint", element = type_of(cls);
    const std::string ahead_of_row = "(ahead + u * " + number(words) + ")";
    const std::string load =
        in_word == 1 ? wide_load(cls, "from", ahead_of_row, 0, w.width, aligned, "        ")
                     : word_access(true, "(GLOBAL const uchar*)from", ahead_of_row, 0, 4 * words,
                                   aligned, aligned, "        ");
    const std::string value = in_word == 1 ? "ahead[u * " + number(words) + " + k]"
                                           : "((ahead[u * " + number(words) + " + k / " +
                                                 number(in_word) + "] >> (" + number(32 / in_word) +
                                                 " * (k % " + number(in_word) + "))) & " +
                                                 (in_word == 4 ? "255u" : "65535u") + ")";
    const std::string rows = number(size_.rows), stride = number(step);
    return "#pragma unroll 1\n  for (int first = ITEM / " + number(lanes) + "; first < " + rows +
           "; first += " + number(step * ahead) + ") {\n    const int x0 = tile_x + ITEM % " +
           number(lanes) + " * " + number(px_) + ";\n    GLOBAL const " + element + "* from = " +
           plane.row("(tile_y + first - " + number(passes_.column.footprint().up) + ")") +
           " + x0 - " + number(w.first) + ";\n    " + type + " ahead[" + number(ahead * words) +
           "];\n" + loop("u", ahead) + "{\n      if (first + u * " + stride + " < " + rows +
           ") {\n" + load + "      }\n      from += " + stride + " * " + plane.stride +
           ";\n    }\n" + loop("u", ahead) + "{\n      const int j = first + u * " + stride +
           ";\n      if (j < " + rows + ") {\n" + declared + loop("k", w.width) + w.array +
           "[k] = (float)" + value + ";\n" + pass + "      }\n    }\n  }\n";
  }

  // Extrema of `length` values, `stride` apart, from `first` on of the array: each length from half
  // of itself.
  std::string folds(const std::string& array, int size, int first, int stride, int length,
                    int count, const std::string& result, const std::string& prefix) const {
    std::string text, from = array;
    int known = 1;
    while (known < length) {
      const int next = std::min(length, 2 * known);
      const bool last = next == length;
      const std::string name = last ? result : prefix + number(next);
      const int made = last ? count : size - first - (next - 1) * stride;
      const int shift = from == array ? first : 0;
      if (!last) text += "      float " + name + "[" + number(made) + "];\n";
      text += loop("k", made) + name + "[k] = " + better() + "(" + from + "[k + " + number(shift) +
              "], " + from + "[k + " + number(shift + (next - known) * stride) + "]);\n";
      from = name;
      known = next;
    }
    if (length == 1)
      text += loop("k", count) + result + "[k] = " + array + "[k + " + number(first) + "];\n";
    return text;
  }

  // The block's columns from local memory: rows of made_NAME, and how row r of it is a pixel.
  std::string column_phase() {
    const int values = px_;
    const std::string place = "first_row * " + number(row_values()) + " + ITEM % " +
                              number(size_.across) + " * " + number(values);
    const std::string name = "b_" + own(), sums = "made_" + own();
    made_.insert(name);
    pixels_of_floats(name, inner().cls, values, sums + "[r * " + number(values) + " + k]");
    const int rows = size_.py + passes_.column.height - 1;
    std::string text = "  float " + sums + "[" + number(py_ * values) + "];\n";
    if (!passes_.sums) {
      const std::string window = "column_" + own();
      return text + "  float " + window + "[" + number(rows * values) + "];\n" + loop("r", rows) +
             "{\n" + loop("k", values) + window + "[r * " + number(values) + " + k] = tile[" +
             place + " + r * " + number(row_values()) + " + k];\n  }\n" +
             folds(window, rows * values, 0, values, passes_.column.height, py_ * values, sums,
                   "column_");
    }
    text += loop("k", py_ * values) + sums +
            "[k] = 0.0f;\n  IN_LOCAL const float4* const column = " + "tile4 + (" + place +
            ") / 4;\n";
    const std::string column_weights =
        weights(to_, inner_, "column_weights", passes_.row.count(), passes_.column.count());
    // Each row of the tile is a tap of every row of the block that is near.
    std::vector<int> weight_of;
    for (int y = 0, k = 0; y < passes_.column.height; ++y) {
      weight_of.push_back(passes_.column.at(0, y) ? k++ : -1);
    }
    for (int row = 0; row < rows; ++row) {
      text += "  {\n    float v[" + number(values) + "];\n";
      for (int k = 0; k < values; ++k) {
        if (k % 4 == 0) {
          text += "    const float4 v" + number(k) + " = column[" +
                  number((row * row_values() + k) / 4) + "];\n";
        }
        text += "    v[" + number(k) + "] = v" + number(k / 4 * 4) + "." + "xyzw"[k % 4] + ";\n";
      }
      for (int r = std::max(0, row - passes_.column.height + 1); r <= std::min(row, py_ - 1); ++r) {
        const int weight = weight_of[static_cast<std::size_t>(row - r)];
        if (weight < 0) continue;
        text += "  " + loop("k", values) + sums + "[" + number(r * values) + " + k] = fma(" +
                column_weights + "[" + number(weight) + "], v[k], " + sums + "[" +
                number(r * values) + " + k]);\n";
      }
      text += "  }\n";
    }
    return text;
  }

  int n_, inner_;
  TileSize size_;
  Passes passes_;
};

}  // namespace

void write_tile_kernel(Builder& to, const KernelPlan& plan, int n) {
  TileWriter(to, plan, n, *plan.form<TwoPasses>(n)).write();
}

}  // namespace impipe::jit
