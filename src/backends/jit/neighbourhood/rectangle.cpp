// Extrema over rectangles of any size, at a cost that does not grow with the sides.
//
// Rows, then columns, each after van Herk, Gil and Werman: lines are cut into blocks of eight or
// sixteen; of each block there are the extrema of its first and of its last 1, 2 ... values. A
// window is then the end of one block, whole blocks, and the beginning of another. A side beyond 65
// is made of windows of at most 65 that overlap: twice as long with each further kernel.
#include "backends/jit/neighbourhood/rectangle.hpp"

#include <algorithm>
#include <array>

#include "backends/jit/plan/image_plan.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {
namespace {

constexpr int column_block = 8;
constexpr int most_reach = 32;  // of one pass, to each side

// How far a window goes to the left (up) and to the right (down).
struct Reach {
  int before = 0, after = 0;
  int side() const { return before + 1 + after; }
  int blocks_before(int block) const { return (before + block - 1) / block; }
  int blocks_after(int block) const { return (after + block - 1) / block; }
};

// How the work-items of a group share a line: a block each, side by side.
struct Line {
  int block = 8;       // values
  int items = 256;     // of the group
  int stride = 1;      // from the work-item of a block to that of the next
  bool waves = false;  // blocks of a line lie in one wave, which needs no local memory
};

// The numbers that a pass works on: several pixels in a register where they are narrow.
struct Words {
  std::string type, in_local;  // in registers; in local memory
  std::string better;          // of two
  std::string nothing;         // no pixel
  std::string widen, narrow;   // functions between the two; may be empty
};

constexpr const char* byte_words = R"(
// Bytes 0 and 2 of a word, and bytes 1 and 3, in the high halves of lanes. What stands in the low
// halves decides between equal bytes only.
FUNCTION uint2 pairs_of_bytes(const uint word) {
  uint2 pairs;
  pairs.x = word << 8;
  pairs.y = word;
  return pairs;
}
FUNCTION uint bytes_of_pairs(const uint2 pairs) { return HIGH_BYTES(pairs.x, pairs.y); }
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
      : to_(to), n_(n), extremum_(std::get<Extremum>(to.node(n).primitive)), cls_(to.node(n).cls) {}

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
                                 size());
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
    return to_.unroll() + "    for (int " + variable + " = 0; " + variable + " < " + number(count) +
           "; ++" + variable + ") ";
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
    if (reach.side() < least_van_herk_side) {
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

  // The windows of the block v[...] of this work-item as best[...]; by all work-items of a group.
  // `active`: whose windows are wanted.
  std::string windows(const Words& w, const Reach& reach, const Line& line,
                      const std::string& active) const {
    const int block = line.block, last = block - 1;
    const std::string all = number(block), n = number(line.items), type = w.type;
    const auto floor_of = [block](int i) {
      return i >= 0 ? i / block : -((-i + block - 1) / block);
    };
    // Entry i of an array of the work-item that is so many blocks away.
    const auto entry = [&](const std::string& array, int i, int blocks) {
      const std::string own = array + "[" + number(i) + "]";
      if (blocks == 0) return own;
      if (line.waves) return "beside_" + type + "(" + own + ", " + number(blocks) + ")";
      return w.widen + "(" + array + "s[" + number(i * line.items) + " + ITEM + (" +
             number(blocks * line.stride) + ")])";
    };
    std::string text = "    " + type + " begin[" + all + "], end[" + all + "], best[" + all +
                       "];\n    begin[0] = v[0];\n    end[" + number(last) + "] = v[" +
                       number(last) + "];\n" + loop("i", last) +
                       "{\n      begin[i + 1] = " + w.better + "(begin[i], v[i + 1]);\n      end[" +
                       number(last - 1) + " - i] = " + w.better + "(end[" + number(last) +
                       " - i], v[" + number(last - 1) + " - i]);\n    }\n";
    if (!line.waves) {
      text += "    BARRIER;\n" + loop("i", block) + "{\n      begins[i * " + n +
              " + ITEM] = " + w.narrow + "(begin[i]);\n      ends[i * " + n +
              " + ITEM] = " + w.narrow + "(end[i]);\n    }\n    BARRIER;\n    if (" + active +
              ") {\n";
    }
    // Which blocks the windows have as a whole, and those that all of them have.
    std::array<std::array<int, 2>, 16> whole{};
    int first = -block, end = block;
    for (int i = 0; i < block; ++i) {
      const int low = i - reach.before, high = i + reach.after + 1;
      whole[static_cast<std::size_t>(i)] = {floor_of(low + last), floor_of(high)};
      first = std::max(first, floor_of(low + last));
      end = std::min(end, floor_of(high));
    }
    const auto whole_block = [&](int b) {
      return "whole_" + std::string(b < 0 ? "before_" : "") + number(std::abs(b));
    };
    for (int b = floor_of(last - reach.before); b <= floor_of(reach.after + block); ++b) {
      const bool wanted = std::any_of(whole.begin(), whole.begin() + block, [b](const auto& range) {
        return b >= range[0] && b < range[1];
      });
      if (!wanted) continue;
      text += "    const " + type + " " + whole_block(b) + " = " + entry("begin", last, b) + ";\n";
    }
    const auto best_of = [&](const std::vector<std::string>& parts) {
      std::string all_parts = parts[0];
      for (std::size_t p = 1; p < parts.size(); ++p) {
        all_parts = w.better + "(" + all_parts + ", " + parts[p] + ")";
      }
      return all_parts;
    };
    if (first < end) {
      std::vector<std::string> parts;
      for (int b = first; b < end; ++b) parts.push_back(whole_block(b));
      text += "    const " + type + " core = " + best_of(parts) + ";\n";
    }
    for (int i = 0; i < block; ++i) {
      const int low = i - reach.before, high = i + reach.after;
      const auto [from, to] = whole[static_cast<std::size_t>(i)];
      std::vector<std::string> parts;
      if (first < end) parts.push_back("core");
      for (int b = from; b < to; ++b) {
        if (first >= end || b < first || b >= end) parts.push_back(whole_block(b));
      }
      if (low > (from - 1) * block && low < from * block) {
        parts.push_back(entry("end", low - (from - 1) * block, from - 1));
      }
      if (high >= to * block) parts.push_back(entry("begin", high - to * block, to));
      text += "    best[" + number(i) + "] = " + best_of(parts) + ";\n";
    }
    return text + (line.waves ? "" : "    }\n");
  }

  // Narrow pixels of two rows as lanes v[...], and best[...] as pixels; words of the rows are
  // row0[...] and row1[...].
  std::string lanes_of_rows(int i) const {
    const std::string q = "[" + number(i * bytes_of(cls_) / 4) + "]",
                      rows = "row0" + q + ", row1" + q;
    if (bytes_of(cls_) == 1) return "BYTE_LANES(" + rows + ", " + number(i % 4) + ")";
    return std::string(i % 2 == 0 ? "LOW_HALVES(" : "HIGH_HALVES(") + rows + ")";
  }
  std::string rows_of_lanes(int q) const {
    const std::string word = number(q);
    if (bytes_of(cls_) == 1) {
      return "rows_of_lanes(best + " + number(4 * q) + ", row0 + " + word + ", row1 + " + word +
             ");\n";
    }
    const std::string two = "best[" + number(2 * q) + "], best[" + number(2 * q + 1) + "]";
    return "row0[" + word + "] = LOW_HALVES(" + two + ");\n      row1[" + word +
           "] = HIGH_HALVES(" + two + ");\n";
  }

  // A line of work-items is a row of blocks; narrow pixels of two rows share a register.
  void row_kernel(const PlaneText& in, const PlaneText& out, const Reach& reach) {
    const Words w = words(false);
    const Tuning& tuning = to_.tuning();
    const bool waves = tuning.exchanges && tuning.sub_group == 32;
    const bool long_blocks = waves && bytes_of(cls_) == 1 && reach.side() > 16;
    const Line line{long_blocks ? 16 : 8, waves ? 128 : 256, 1, waves};
    const int blocks = waves ? 32 : 64;  // of a line
    const std::string type = type_of(cls_), all = number(line.block);
    const std::string width = to_.width(self()), height = to_.height(self());
    const int lines = line.items / blocks, rows = single() ? 1 : 2;
    const int before = reach.blocks_before(line.block), after = reach.blocks_after(line.block);
    const int made = blocks - before - after;
    const int row_bytes = line.block * bytes_of(cls_);
    const std::string from = single() ? "from0" : "(GLOBAL const uchar*)from0";
    std::string load, store;
    for (int r = 0; r < rows; ++r) {
      const std::string which = number(r), from_row = "from" + which;
      load += "    GLOBAL const " + type + "* const " + from_row + " = " +
              in.row("smaller(y + " + which + ", " + height + " - 1)") + " + x0;\n";
    }
    const std::string nothing = single() || extremum_.largest ? w.nothing : "0xffffffffu";
    // Rows are padded to more than a block.
    load += "    if (x0 >= 0 && x0 < " + width + ") {\n";
    if (single()) {
      load += wide_load(cls_, "from0", "v", 0, line.block, tuning.load_bytes, "      ");
    } else {
      const std::string words = number(row_bytes / 4);
      load += "      uint row0[" + words + "], row1[" + words + "];\n";
      for (const std::string r : {"0", "1"}) {
        load += word_access(true, "(GLOBAL const uchar*)from" + r, "row" + r, 0, row_bytes,
                            row_bytes, tuning.load_bytes, "      ");
      }
      for (int i = 0; i < line.block; ++i) {
        load += "      v[" + number(i) + "] = " + lanes_of_rows(i) + ";\n";
      }
    }
    load += "    } else {\n" + loop("i", line.block) + "v[i] = " + nothing +
            ";\n    }\n    if (x0 + " + all + " > " + width + ") {\n" + loop("i", line.block) +
            "v[i] = x0 + i < " + width + " ? v[i] : " + nothing + ";\n    }\n";
    const auto to_row = [&](int r) {
      return std::string(r == 0 ? "" : "if (y + 1 < " + height + ") ") + "{\n        GLOBAL " +
             type + "* const to = " + out.row("(y + " + number(r) + ")") + " + x0;\n";
    };
    if (!single()) {
      const std::string words = number(row_bytes / 4);
      store += "      uint row0[" + words + "], row1[" + words + "];\n";
      for (int q = 0; q < row_bytes / 4; ++q) store += "      " + rows_of_lanes(q);
      for (int r = 0; r < rows; ++r) {
        store += "      " + to_row(r) +
                 word_access(false, "(GLOBAL uchar*)to", "row" + number(r), 0, row_bytes, row_bytes,
                             tuning.load_bytes, "        ") +
                 "      }\n";
      }
    } else {
      store += "      " + to_row(0) +
               wide_store(cls_, "to", "best", line.block, tuning.load_bytes, "        ") +
               "      }\n";
    }
    const std::string active = "y < " + height + " && x0 < " + width +
                               " && of_line >= " + number(before) + " && of_line < " +
                               number(blocks - after);
    const std::string text =
        by_wave(line, [&](const Line& l) { return local_arrays(w, l); }) +
        "  const int of_line = ITEM % " + number(blocks) + ";\n  const int x0 = (GROUP_X * " +
        number(made) + " + of_line - " + number(before) + ") * " + all +
        ";\n  const int y = (GROUP_Y * " + number(lines) + " + ITEM / " + number(blocks) + ") * " +
        number(rows) + ";\n  {\n    " + w.type + " v[" + all + "];\n" + load +
        by_wave(line, [&](const Line& l) { return windows(w, reach, l, active); }) + "    if (" +
        active + ") {\n" + store + "    }\n  }\n";
    const int across = made * line.block, down = lines * rows, items = line.items;
    to_.kernel(name_, items, text, [size = size(), across, down, items](const LaunchContext& at) {
      const Size s = size(at);
      return LaunchShape{{(s.width + across - 1) / across, (s.height + down - 1) / down, 1},
                         {items, 1, 1}};
    });
  }

  // OpenCL's compilers but NVIDIA's have no words for other work-items' registers: local memory.
  std::string by_wave(const Line& line, const std::function<std::string(const Line&)>& text) const {
    if (!line.waves || to_.dialect() != Dialect::opencl) return text(line);
    Line apart = line;
    apart.waves = false;
    return text(apart);
  }

  std::string local_arrays(const Words& w, const Line& line) const {
    if (line.waves) return "";
    const std::string count = number(line.block * line.items);
    return "  LOCAL " + w.in_local + " begins[" + count + "], ends[" + count + "];\n";
  }

  // Words of pixels side by side; a work-item has eight rows of one.
  void column_kernel(const PlaneText& in, const PlaneText& out, const Reach& reach) {
    const Words w = words(bytes_of(cls_) == 1);
    const std::string height = to_.height(self());
    const int across = to_.tuning().column_words, blocks = to_.tuning().column_blocks;
    const Line line{column_block, across * blocks, across, false};
    const int before = reach.blocks_before(column_block), after = reach.blocks_after(column_block);
    const int made = blocks - before - after, items = line.items;
    const std::string word = single() ? "float" : "uint";
    const int in_word = 4 / bytes_of(cls_);
    const std::string words_across = to_.parameter(
        ParameterType::int32, Builder::name(self()) + "_words",
        [self = self(), in_word](const LaunchContext& at, int) {
          return static_cast<double>((at.size_of(self).width + in_word - 1) / in_word);
        });
    const std::string active = "x < " + words_across + " && of_line >= " + number(before) +
                               " && of_line < " + number(blocks - after);
    const auto step = [&](const PlaneText& plane) {
      return "(" + plane.stride + " / " + number(in_word) + ")";
    };
    const auto first_word = [&](const PlaneText& plane, const std::string& qualified) {
      return qualified + word + "*)(" + plane.pointer + ") + (long)y0 * " + step(plane) + " + x";
    };
    const std::string each = loop("i", 8);
    const std::string text =
        local_arrays(w, line) + "  const int x = GROUP_X * " + number(across) + " + ITEM % " +
        number(across) + ", of_line = ITEM / " + number(across) +
        ";\n  const int y0 = (GROUP_Y * " + number(made) + " + of_line - " + number(before) +
        ") * 8;\n  {\n    " + w.type + " v[8];\n    GLOBAL const " + word +
        "* const from = " + first_word(in, "(GLOBAL const ") +
        ";\n    const long step = " + step(in) + ";\n    if (x < " + words_across +
        " && y0 >= 0 && y0 + 8 <= " + height + ") {\n" + each + "v[i] = " + w.widen +
        "(from[i * step]);\n    } else {\n" + each + "v[i] = x < " + words_across +
        " && y0 + i >= 0 && y0 + i < " + height + " ? " + w.widen +
        "(from[i * step]) : " + w.nothing + ";\n    }\n" + windows(w, reach, line, active) +
        "    if (" + active + ") {\n      GLOBAL " + word +
        "* const to = " + first_word(out, "(GLOBAL ") + ";\n      const long made = " + step(out) +
        ";\n      if (y0 + 8 <= " + height + ") {\n" + each + "to[i * made] = " + w.narrow +
        "(best[i]);\n      } else {\n" + each + "if (y0 + i < " + height +
        ") to[i * made] = " + w.narrow + "(best[i]);\n      }\n    }\n  }\n";
    const int per_group = made * column_block;
    to_.kernel(name_, items, text,
               [size = size(), across, per_group, in_word, items](const LaunchContext& at) {
                 const Size s = size(at);
                 const std::int64_t words = (s.width + in_word - 1) / in_word;
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
    std::string text = "  {\n    " + type +
                       " best = " + (single() ? nothing_of_pixel() : "(int)" + nothing_of_pixel()) +
                       ";\n";
    for (const int y : dy) {
      for (const int x : dx) {
        text += "    best = " + better + "(best, (" + type + ")(" +
                in.row("replicate(y + (" + number(y) + "), " + height + ")") + ")[replicate(x + (" +
                number(x) + "), " + width + ")]);\n";
      }
    }
    to_.pixel_kernel(name_, width, height, size(),
                     text + "    " + out.pixel() + " = (" + type_of(cls_) + ")best;\n  }\n");
  }

  Builder& to_;
  int n_;
  const Extremum& extremum_;
  PixelClass cls_;
  std::string name_;  // of the kernel that is written
};

}  // namespace

void write_rectangle_kernels(Builder& to, int n) { RectangleWriter(to, n).write(); }

}  // namespace impipe::jit
