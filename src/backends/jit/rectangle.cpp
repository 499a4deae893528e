// Extrema over rectangles of any size, at a cost that does not grow with the sides.
//
// Rows, then columns, each after van Herk, Gil and Werman: lines are cut into blocks of eight; of
// each block there are the extrema of its first and of its last 1, 2 ... 8 values. A window is then
// the end of one block, whole blocks, and the beginning of another. A side beyond 65 is made of
// windows of at most 65 that overlap: twice as long with each further kernel.
#include "backends/jit/rectangle.hpp"

#include <algorithm>
#include <array>

#include "backends/jit/dialect.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/text.hpp"
#include "backends/jit/wide_access.hpp"

namespace impipe::jit {
namespace {

constexpr int block = 8;
constexpr int most_reach = 32;  // of one pass, to each side
constexpr int least_side = 9;   // below, windows lie in one block
constexpr int row_items = 256;
constexpr int row_blocks = 64;  // of a line, in a group

// How far a window goes to the left (up) and to the right (down).
struct Reach {
  int before = 0, after = 0;
  int side() const { return before + 1 + after; }
  int blocks_before() const { return (before + block - 1) / block; }
  int blocks_after() const { return (after + block - 1) / block; }
};

std::string number(int i) { return std::to_string(i); }

// The numbers that a pass works on: several pixels in a register where they are narrow.
struct Words {
  std::string type, in_local;  // in registers; in local memory
  std::string better;          // of two
  std::string nothing;         // no pixel
  std::string widen, narrow;   // functions between the two; may be empty
};

constexpr const char* byte_words = R"(
// Bytes 0 and 2 of a word, and bytes 1 and 3.
FUNCTION uint2 pairs_of_bytes(const uint word) {
  uint2 pairs;
  pairs.x = word & 0x00ff00ffu;
  pairs.y = (word >> 8) & 0x00ff00ffu;
  return pairs;
}
FUNCTION uint bytes_of_pairs(const uint2 pairs) { return pairs.x | pairs.y << 8; }
FUNCTION uint2 smaller_bytes(uint2 a, const uint2 b) {
  a.x = smaller_lanes(a.x, b.x);
  a.y = smaller_lanes(a.y, b.y);
  return a;
}
FUNCTION uint2 larger_bytes(uint2 a, const uint2 b) {
  a.x = larger_lanes(a.x, b.x);
  a.y = larger_lanes(a.y, b.y);
  return a;
}
)";

class RectangleWriter {
 public:
  RectangleWriter(Builder& to, int n)
      : to_(to),
        n_(n),
        extremum_(std::get<Extremum>(to.node(n).primitive)),
        cls_(to.node(n).cls),
        channels_(to.node(n).channels) {}

  void write() {
    const Footprint f = extremum_.mask.footprint();
    Reach x{f.left, f.right}, y{f.up, f.down};
    const Reach first_x = first(x), first_y = first(y);
    std::vector<std::function<void(const PlaneText&, const PlaneText&)>> passes;
    add_pass(passes, first_x, true);
    add_pass(passes, first_y, false);
    Reach made_x = first_x, made_y = first_y;
    while (made_x.side() < x.side() || made_y.side() < y.side()) {
      const std::array<int, 2> dx = spread(made_x, x), dy = spread(made_y, y);
      passes.push_back([this, dx, dy](const PlaneText& in, const PlaneText& out) {
        gather_kernel(in, out, {-dx[0], dx[1]}, {-dy[0], dy[1]});
      });
    }
    for (std::size_t p = 0; p < passes.size(); ++p) {
      const auto plane = [&](std::size_t before) {
        if (before == 0) return to_.plane(image());
        if (before == passes.size()) return to_.plane(self());
        return to_.scratch_plane(Builder::name(self()) + "_pass" + std::to_string(before), cls_,
                                 channels_, size());
      };
      const PlaneText in = plane(p), out = plane(p + 1);
      name_ = "store_" + Builder::name(self()) +
              (p + 1 < passes.size() ? "_pass" + std::to_string(p + 1) : "");
      passes[p](in, out);
    }
  }

 private:
  using Passes = std::vector<std::function<void(const PlaneText&, const PlaneText&)>>;

  Operand self() const { return {false, n_}; }
  Operand image() const { return to_.node(n_).images[0]; }
  std::function<Size(const LaunchContext&)> size() const {
    return [self = self()](const LaunchContext& at) { return at.size_of(self); };
  }
  bool single() const { return cls_ == PixelClass::single; }
  std::string loop(const std::string& variable, int count) const {
    return std::string(to_.tuning().unroll ? "#pragma unroll\n" : "") + "    for (int " + variable +
           " = 0; " + variable + " < " + number(count) + "; ++" + variable + ") ";
  }

  static Reach first(const Reach& whole) {
    return {std::min(whole.before, most_reach), std::min(whole.after, most_reach)};
  }
  // How far apart two windows of what was made are read; makes it what they cover together.
  static std::array<int, 2> spread(Reach& made, const Reach& whole) {
    const int side = made.side();
    const int before = std::min(whole.before - made.before, side);
    const int after = std::min(whole.after - made.after, side - before);
    made.before += before;
    made.after += after;
    return {before, after};
  }

  void add_pass(Passes& passes, const Reach& reach, bool rows) {
    if (reach.side() == 1) return;
    if (reach.side() < least_side) {
      std::vector<int> all;
      for (int d = -reach.before; d <= reach.after; ++d) all.push_back(d);
      passes.push_back([this, all, rows](const PlaneText& in, const PlaneText& out) {
        gather_kernel(in, out, rows ? all : std::vector<int>{0}, rows ? std::vector<int>{0} : all);
      });
    } else if (rows) {
      passes.push_back(
          [this, reach](const PlaneText& in, const PlaneText& out) { row_kernel(in, out, reach); });
    } else {
      passes.push_back([this, reach](const PlaneText& in, const PlaneText& out) {
        column_kernel(in, out, reach);
      });
    }
  }

  std::string nothing_of_pixel() const {
    if (single()) return extremum_.largest ? "-INFINITY" : "INFINITY";
    return extremum_.largest ? "0u" : number(static_cast<int>(class_max(cls_))) + "u";
  }
  Words words(bool bytes_in_pairs) {
    const bool largest = extremum_.largest;
    if (single()) {
      return {"float", "float", largest ? "fmax" : "fmin", nothing_of_pixel(), "", ""};
    }
    const std::string nothing = largest ? "0u" : "0xffffffffu";
    if (bytes_in_pairs) {
      to_.body_once("pairs_of_bytes", byte_words);
      return {"uint2",
              "uint",
              largest ? "larger_bytes" : "smaller_bytes",
              "pairs_of_bytes(" + nothing + ")",
              "pairs_of_bytes",
              "bytes_of_pairs"};
    }
    return {"uint", "uint", largest ? "larger_lanes" : "smaller_lanes", nothing, "", ""};
  }

  // The beginnings and ends of the block v[8] of this work-item into local memory, then its windows
  // as best[8]; block `b` of the line is `stride` work-items away. `active`: whose windows are
  // wanted.
  std::string windows(const Words& w, const Reach& reach, int items, int stride,
                      const std::string& active) const {
    const std::string n = number(items);
    const auto local = [&](const std::string& array, int i, int blocks) {
      return w.widen + "(" + array + "[" + number(i * items) + " + ITEM + (" +
             number(blocks * stride) + ")])";
    };
    std::string text =
        "    " + w.type + " begin[8], end[8];\n    begin[0] = v[0];\n" + "    end[7] = v[7];\n" +
        loop("i", 7) + "{\n      begin[i + 1] = " + w.better +
        "(begin[i], v[i + 1]);\n      end[6 - i] = " + w.better +
        "(end[7 - i], v[6 - i]);\n    }\n    BARRIER;\n" + loop("i", 8) + "{\n      begins[i * " +
        n + " + ITEM] = " + w.narrow + "(begin[i]);\n      ends[i * " + n +
        " + ITEM] = " + w.narrow + "(end[i]);\n    }\n    BARRIER;\n    if (" + active +
        ") {\n    " + w.type + " best[8];\n";
    const auto floor_of = [](int i) { return i >= 0 ? i / block : -((-i + block - 1) / block); };
    // Whole blocks that all eight windows have.
    const int core_first = floor_of(block - 1 - reach.before) + 1;
    const int core_last = floor_of(reach.after) - 1;
    for (int b = core_first; b <= core_last; ++b) {
      const std::string whole = local("begins", 7, b);
      text += b == core_first ? "    " + w.type + " core = " + whole + ";\n"
                              : "    core = " + w.better + "(core, " + whole + ");\n";
    }
    for (int i = 0; i < block; ++i) {
      const int low = floor_of(i - reach.before), high = floor_of(i + reach.after);
      std::vector<std::string> parts = {local("ends", i - reach.before - low * block, low),
                                        local("begins", i + reach.after - high * block, high)};
      if (core_first <= core_last) parts.push_back("core");
      for (int b = low + 1; b < high; ++b) {
        if (b < core_first || b > core_last) parts.push_back(local("begins", 7, b));
      }
      std::string all = parts[0];
      for (std::size_t p = 1; p < parts.size(); ++p) {
        all = w.better + "(" + all + ", " + parts[p] + ")";
      }
      text += "    best[" + number(i) + "] = " + all + ";\n";
    }
    return text;
  }

  // A line of work-items is a row of blocks; narrow pixels of two rows share a register.
  void row_kernel(const PlaneText& in, const PlaneText& out, const Reach& reach) {
    const Words w = words(false);
    const std::string type = type_of(cls_), c = number(channels_);
    const std::string width = to_.width(self()), height = to_.height(self());
    const int lines = row_items / row_blocks, rows = single() ? 1 : 2;
    const int made = row_blocks - reach.blocks_before() - reach.blocks_after();
    const bool plain = channels_ == 1;
    std::string load, store;
    for (int r = 0; r < rows; ++r) {
      const std::string row = "row" + number(r),
                        y = r == 0 ? "y" : "smaller(y + 1, " + height + " - 1)";
      load += "      " + type + " " + row + "[8];\n      GLOBAL const " + type + "* const from_" +
              row + " = " + in.row(y) + " + (long)x0 * " + c + ";\n";
      if (plain) {
        load += "      if (x0 >= 0 && x0 + 8 <= " + width + ") {\n" +
                wide_load(cls_, "from_" + row, row, 0, 8, to_.tuning().load_bytes, "        ") +
                "      } else {\n";
      } else {
        load += "      {\n";
      }
      load += loop("i", 8) + row + "[i] = x0 + i >= 0 && x0 + i < " + width + " ? from_" + row +
              "[i * " + c + " + c] : (" + type + ")" + nothing_of_pixel() + ";\n      }\n";
      store += "      " + std::string(r == 0 ? "" : "if (y + 1 < " + height + ") ") +
               "{\n        " + type + " made[8];\n" + loop("i", 8) + "made[i] = (" + type + ")" +
               (single() ? "best[i]"
                : r == 0 ? "(best[i] & 0xffffu)"
                         : "(best[i] >> 16)") +
               ";\n        GLOBAL " + type + "* const to = " + out.row(r == 0 ? "y" : "(y + 1)") +
               " + (long)x0 * " + c + ";\n";
      // Rows are padded to more than eight pixels.
      store +=
          plain ? wide_store(cls_, "to", "made", 8, to_.tuning().load_bytes, "        ")
                : loop("i", 8) + "if (x0 + i < " + width + ") to[i * " + c + " + c] = made[i];\n";
      store += "      }\n";
    }
    const std::string pixels = single() ? "row0[i]" : "((uint)row0[i] | (uint)row1[i] << 16)";
    const std::string text =
        "  LOCAL " + w.in_local + " begins[" + number(block * row_items) + "], ends[" +
        number(block * row_items) + "];\n  const int of_line = ITEM % " + number(row_blocks) +
        ";\n  const int x0 = (GROUP_X * " + number(made) + " + of_line - " +
        number(reach.blocks_before()) + ") * 8;\n  const int y = (GROUP_Y * " + number(lines) +
        " + ITEM / " + number(row_blocks) + ") * " + number(rows) + ";\n  for (int c = 0; c < " +
        c + "; ++c) {\n    " + w.type + " v[8];\n    if (y < " + height + ") {\n" + load +
        loop("i", 8) + "v[i] = " + pixels + ";\n    } else {\n" + loop("i", 8) +
        "v[i] = " + w.nothing + ";\n    }\n" +
        windows(w, reach, row_items, 1,
                "y < " + height + " && x0 < " + width +
                    " && of_line >= " + number(reach.blocks_before()) + " && of_line < " +
                    number(row_blocks - reach.blocks_after())) +
        store + "    }\n  }\n";
    const int across = made * block, down = lines * rows;
    to_.kernel(name_, row_items, text, [size = size(), across, down](const LaunchContext& at) {
      const Size s = size(at);
      return LaunchShape{{(s.width + across - 1) / across, (s.height + down - 1) / down, 1},
                         {row_items, 1, 1}};
    });
  }

  // Words of pixels side by side, whatever their channels; a work-item has eight rows of one.
  void column_kernel(const PlaneText& in, const PlaneText& out, const Reach& reach) {
    const Words w = words(bytes_of(cls_) == 1);
    const std::string height = to_.height(self()), bytes = number(bytes_of(cls_));
    const int across = to_.tuning().column_words, blocks = to_.tuning().column_blocks;
    const int items = across * blocks;
    const int made = blocks - reach.blocks_before() - reach.blocks_after();
    const std::string word = single() ? "float" : "uint";
    const auto row = [&](const PlaneText& plane, const std::string& y, const std::string& pointer) {
      return "(" + pointer + word + "*)(" + plane.row(y) + ")";
    };
    const int in_word = 4 / bytes_of(cls_), channels = channels_;
    const std::string words_across = to_.parameter(
        ParameterType::int32, Builder::name(self()) + "_words",
        [self = self(), in_word, channels](const LaunchContext& at, int) {
          return static_cast<double>((at.size_of(self).width * channels + in_word - 1) / in_word);
        });
    const std::string text =
        "  LOCAL " + w.in_local + " begins[" + number(block * items) + "], ends[" +
        number(block * items) + "];\n  const int x = GROUP_X * " + number(across) + " + ITEM % " +
        number(across) + ", of_line = ITEM / " + number(across) +
        ";\n  const int y0 = (GROUP_Y * " + number(made) + " + of_line - " +
        number(reach.blocks_before()) + ") * 8;\n  {\n    " + w.type + " v[8];\n" + loop("i", 8) +
        "v[i] = x < " + words_across + " && y0 + i >= 0 && y0 + i < " + height + " ? " + w.widen +
        "((" + row(in, "(y0 + i)", "GLOBAL const ") + ")[x]) : " + w.nothing + ";\n" +
        windows(w, reach, items, across,
                "x < " + words_across + " && of_line >= " + number(reach.blocks_before()) +
                    " && of_line < " + number(blocks - reach.blocks_after())) +
        loop("i", 8) + "if (y0 + i < " + height + ") (" + row(out, "(y0 + i)", "GLOBAL ") +
        ")[x] = " + w.narrow + "(best[i]);\n    }\n  }\n";
    const int per_group = made * block;
    to_.kernel(
        name_, items, text,
        [size = size(), across, per_group, in_word, channels, items](const LaunchContext& at) {
          const Size s = size(at);
          const std::int64_t words = (s.width * channels + in_word - 1) / in_word;
          return LaunchShape{
              {(words + across - 1) / across, (s.height + per_group - 1) / per_group, 1},
              {items, 1, 1}};
        });
  }

  // The best of a few pixels; places outside give way to the nearest inside, which the window has.
  void gather_kernel(const PlaneText& in, const PlaneText& out, std::vector<int> dx,
                     std::vector<int> dy) {
    const std::string width = to_.width(self()), height = to_.height(self());
    const std::string type = single() ? "float" : "int";
    const std::string better = single() ? (extremum_.largest ? "fmax" : "fmin")
                                        : (extremum_.largest ? "larger" : "smaller");
    std::sort(dx.begin(), dx.end());
    dx.erase(std::unique(dx.begin(), dx.end()), dx.end());
    std::sort(dy.begin(), dy.end());
    dy.erase(std::unique(dy.begin(), dy.end()), dy.end());
    std::string text = "  for (int c = 0; c < " + number(channels_) + "; ++c) {\n    " + type +
                       " best = " + (single() ? nothing_of_pixel() : "(int)" + nothing_of_pixel()) +
                       ";\n";
    for (const int y : dy) {
      for (const int x : dx) {
        text += "    best = " + better + "(best, (" + type + ")(" +
                in.row("replicate(y + (" + number(y) + "), " + height + ")") + ")[replicate(x + (" +
                number(x) + "), " + width + ") * " + number(channels_) + " + c]);\n";
      }
    }
    to_.pixel_kernel(name_, width, height, size(),
                     text + "    " + out.pixel() + " = (" + type_of(cls_) + ")best;\n  }\n");
  }

  Builder& to_;
  int n_;
  const Extremum& extremum_;
  PixelClass cls_;
  int channels_;
  std::string name_;  // of the kernel that is written
};

}  // namespace

bool is_rectangle(const Builder& to, int n) {
  const auto* extremum = std::get_if<Extremum>(&to.node(n).primitive);
  if (extremum == nullptr || !extremum->mask.full()) return false;
  const Footprint f = extremum->mask.footprint();
  return f.left >= 0 && f.right >= 0 && f.up >= 0 && f.down >= 0 &&
         std::max(extremum->mask.width, extremum->mask.height) >= least_side;
}

void write_rectangle_kernels(Builder& to, int n) { RectangleWriter(to, n).write(); }

}  // namespace impipe::jit
