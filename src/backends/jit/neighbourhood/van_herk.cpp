// Extrema over rectangles of any size, at a cost that does not grow with the sides.
//
// Rows, then columns, each after van Herk, Gil and Werman: lines are cut into blocks of eight or
// sixteen; of each block there are the extrema of its first and of its last 1, 2 ... values. A
// window is then the end of one block, whole blocks, and the beginning of another. A side beyond 65
// is made of windows of at most 65 that overlap: twice as long with each further kernel.
#include <algorithm>
#include <array>

#include "backends/jit/plan/form.hpp"
#include "backends/jit/text/builder.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {
namespace {

constexpr int column_block = 8;
constexpr int min_van_herk_side = 9;  // of a pass; below, windows lie in one block of eight
constexpr int max_reach = 32;         // of one pass, to each side

// How far a window goes to the left (up) and to the right (down).
struct Reach {
  int before = 0, after = 0;
  int side() const { return before + 1 + after; }
  int blocks_before(int block) const { return (before + block - 1) / block; }
  int blocks_after(int block) const { return (after + block - 1) / block; }
};

// How the work-items of a group share a line: neighbouring blocks, one each.
struct Line {
  int block = 8;            // values of a block
  int items = 256;          // work-items of the group
  int stride = 1;           // from the work-item of a block to that of the next
  bool sub_groups = false;  // blocks of a line lie in one sub-group, which needs no local memory
};

// The numbers that a pass works on: several pixels in a register where they are narrow.
struct Element {
  std::string type, in_local;  // in registers; in local memory
  std::string better;          // function: the extremum of two
  std::string nothing;         // neutral element of `better`
  std::string widen, narrow;   // functions between the two; may be empty
  std::string finish = "";     // function: what a window's result becomes
};

class VanHerkWriter {
 public:
  VanHerkWriter(Builder& builder, int n)
      : builder_(builder),
        n_(n),
        extremum_(std::get<Extremum>(builder.node(n).primitive)),
        cls_(builder.node(n).cls) {}

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
      passes.emplace_back([this, dx, dy](const PlaneText& in, const PlaneText& out) {
        gather_kernel(in, out, {-dx[0], dx[1]}, {-dy[0], dy[1]});
      });
    }
    for (std::size_t p = 0; p < passes.size(); ++p) {
      const auto plane = [&](std::size_t before) {
        if (before == 0) return builder_.plane(image());
        if (before == passes.size()) return builder_.plane(self());
        return builder_.scratch_plane(Builder::name(self()) + "_pass" + std::to_string(before),
                                      cls_, size());
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
  Operand image() const { return builder_.node(n_).images[0]; }
  std::function<Size(const LaunchContext&)> size() const {
    return [self = self()](const LaunchContext& at) { return at.size_of(self); };
  }
  bool single() const { return cls_ == PixelClass::single; }
  static Reach first(const Reach& whole) {
    return {std::min(whole.before, max_reach), std::min(whole.after, max_reach)};
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
    if (reach.side() < min_van_herk_side) {
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
  Element words(bool bytes_in_pairs) {
    const bool largest = extremum_.largest;
    if (single()) {
      return {"float",
              "float",
              largest ? "fmax" : "fmin",
              nothing_of_pixel(),
              "",
              "",
              largest ? "largest_found" : "smallest_found"};
    }
    const std::string nothing = largest ? "0u" : "0xffffffffu";
    if (bytes_in_pairs) {
      builder_.body_once("pairs_of_bytes", filled(part(kernels::van_herk, "bytes")));
      return {"uint2",
              "uint",
              largest ? "larger_bytes" : "smaller_bytes",
              "pairs_of_bytes(" + nothing + ")",
              "pairs_of_bytes",
              "bytes_of_pairs"};
    }
    return {"uint", "uint", largest ? "packed_max" : "packed_min", nothing, "", ""};
  }

  // Entry i of an array of the work-item that is so many blocks away.
  static std::string entry(const Element& w, const Line& line, const std::string& array, int i,
                           int blocks) {
    const std::string own = array + "[" + number(i) + "]";
    if (blocks == 0) return own;
    if (line.sub_groups) return "beside_" + w.type + "(" + own + ", " + number(blocks) + ")";
    return w.widen + "(" + array + "s[" + number(i * line.items) + " + ITEM + (" +
           number(blocks * line.stride) + ")])";
  }
  static std::string best_of(const Element& w, const std::vector<std::string>& parts) {
    std::string best = parts[0];
    for (std::size_t p = 1; p < parts.size(); ++p)
      best = w.better + "(" + best + ", " + parts[p] + ")";
    return best;
  }
  static std::string whole_block(int b) {
    return "whole_" + std::string(b < 0 ? "before_" : "") + number(std::abs(b));
  }

  // Which blocks the windows of a block have as a whole: from, and up to but without.
  struct WholeBlocks {
    std::array<std::array<int, 2>, 16> of_value{};
    int first, end;  // those that all of them have
  };
  static int floor_of(int i, int block) { return i >= 0 ? i / block : -((-i + block - 1) / block); }
  static WholeBlocks whole_blocks(const Reach& reach, int block) {
    WholeBlocks whole{.first = -block, .end = block};
    for (int i = 0; i < block; ++i) {
      const int from = floor_of(i - reach.before + block - 1, block),
                builder = floor_of(i + reach.after + 1, block);
      whole.of_value[static_cast<std::size_t>(i)] = {from, builder};
      whole.first = std::max(whole.first, from);
      whole.end = std::min(whole.end, builder);
    }
    return whole;
  }

  // best[...] from the blocks' extrema.
  static std::string best_text(const Element& w, const Reach& reach, const Line& line) {
    const int block = line.block, last = block - 1;
    const WholeBlocks whole = whole_blocks(reach, block);
    std::string text;
    for (int b = floor_of(last - reach.before, block); b <= floor_of(reach.after + block, block);
         ++b) {
      const bool needed =
          std::any_of(whole.of_value.begin(), whole.of_value.begin() + block,
                      [b](const auto& range) { return b >= range[0] && b < range[1]; });
      if (!needed) continue;
      text += declared("const " + w.type, whole_block(b), entry(w, line, "begin", last, b));
    }
    if (whole.first < whole.end) {
      std::vector<std::string> parts;
      for (int b = whole.first; b < whole.end; ++b) parts.push_back(whole_block(b));
      text += declared("const " + w.type, "core", best_of(w, parts));
    }
    for (int i = 0; i < block; ++i) {
      const int low = i - reach.before, high = i + reach.after;
      const auto [from, builder] = whole.of_value[static_cast<std::size_t>(i)];
      std::vector<std::string> parts;
      if (whole.first < whole.end) parts.emplace_back("core");
      for (int b = from; b < builder; ++b) {
        const bool in_core = whole.first < whole.end && b >= whole.first && b < whole.end;
        if (!in_core) parts.push_back(whole_block(b));
      }
      if (low > (from - 1) * block && low < from * block) {
        parts.push_back(entry(w, line, "end", low - (from - 1) * block, from - 1));
      }
      if (high >= builder * block)
        parts.push_back(entry(w, line, "begin", high - builder * block, builder));
      text += assigned("best[" + number(i) + "]", w.finish + "(" + best_of(w, parts) + ")");
    }
    return text;
  }

  // The windows of the block v[...] of this work-item as best[...]; by all work-items of a group.
  // `wanted`: whether those of a work-item are.
  std::string windows(const Element& w, const Reach& reach, const Line& line,
                      const std::string& wanted) const {
    const int block = line.block, last = block - 1;
    return builder_.filled(part(kernels::van_herk, "windows"),
                           {{"type", w.type},
                            {"all", number(block)},
                            {"last", number(last)},
                            {"before_last", number(last - 1)},
                            {"better", w.better},
                            {"in_local", line.sub_groups ? "0" : "1"},
                            {"items", number(line.items)},
                            {"narrow", w.narrow},
                            {"wanted", wanted},
                            {"best", best_text(w, reach, line)}});
  }

  // Narrow pixels of two rows packed as v[...], and best[...] as pixels; words of the rows are
  // row0[...] and row1[...].
  std::string packed_rows(int i) const {
    const std::string q = "[" + number(i * bytes_of(cls_) / 4) + "]",
                      rows = "row0" + q + ", row1" + q;
    if (bytes_of(cls_) == 1) return "PACKED_BYTES(" + rows + ", " + number(i % 4) + ")";
    return std::string(i % 2 == 0 ? "LOW_HALVES(" : "HIGH_HALVES(") + rows + ")";
  }
  std::string rows_of_packed(int q) const {
    const std::string word = number(q);
    if (bytes_of(cls_) == 1) {
      return statement("rows_of_packed(best + " + number(4 * q) + ", row0 + " + word + ", row1 + " +
                       word + ")");
    }
    const std::string two = "best[" + number(2 * q) + "], best[" + number(2 * q + 1) + "]";
    return assigned("row0[" + word + "]", "LOW_HALVES(" + two + ")") +
           assigned("row1[" + word + "]", "HIGH_HALVES(" + two + ")");
  }

  // Rows of `bytes` bytes, a block each, as words.
  std::string words_of(bool load, const std::string& row, const std::string& array,
                       int bytes) const {
    return word_access(load, row, array, 0, bytes, bytes, builder_.tuning().load_bytes);
  }
  // Blocks of one row or, where two share registers, of two.
  std::string load_block(int block) const {
    if (single()) return wide_load(cls_, "from0", "v", 0, block, builder_.tuning().load_bytes);
    std::string load;
    for (const std::string r : {"0", "1"}) {
      load += words_of(true, "(GLOBAL const uchar*)from" + r, "row" + r, block * bytes_of(cls_));
    }
    for (int i = 0; i < block; ++i) load += assigned("v[" + number(i) + "]", packed_rows(i));
    return load;
  }
  std::string pack_block(int block) const {
    std::string pack;
    for (int q = 0; q < block * bytes_of(cls_) / 4 && !single(); ++q) pack += rows_of_packed(q);
    return pack;
  }

  // A line of work-items is a row of blocks; narrow pixels of two rows share a register.
  void row_kernel(const PlaneText& in, const PlaneText& out, const Reach& reach) {
    const Element w = words(false);
    const Tuning& tuning = builder_.tuning();
    const bool sub_groups = tuning.exchanges && tuning.sub_group == 32;
    const bool long_blocks = sub_groups && bytes_of(cls_) == 1 && reach.side() > 16;
    const Line line{long_blocks ? 16 : 8, sub_groups ? 128 : 256, 1, sub_groups};
    const int blocks = sub_groups ? 32 : 64;  // of a line
    const std::string width = builder_.width(self()), height = builder_.height(self());
    const int lines = line.items / blocks, rows = single() ? 1 : 2;
    const int before = reach.blocks_before(line.block), after = reach.blocks_after(line.block);
    const int made = blocks - before - after, row_bytes = line.block * bytes_of(cls_);
    const std::string wanted = "y < " + height + " && x0 < " + width +
                               " && of_line >= " + number(before) + " && of_line < " +
                               number(blocks - after);
    const Line exchanged = exchanged_by(line);
    const std::string text = builder_.filled(
        part(kernels::van_herk, "rows"),
        {{"in_local", exchanged.sub_groups ? "0" : "1"},
         {"stored", w.in_local},
         {"values", number(line.block * line.items)},
         {"blocks", number(blocks)},
         {"made", number(made)},
         {"before", number(before)},
         {"all", number(line.block)},
         {"lines", number(lines)},
         {"rows", number(rows)},
         {"two", single() ? "0" : "1"},
         {"type", w.type},
         {"pixel", type_of(cls_)},
         {"width", width},
         {"height", height},
         {"in_row_0", in.row("smaller(y + 0, " + height + " - 1)")},
         {"in_row_1", in.row("smaller(y + 1, " + height + " - 1)")},
         {"words", number(row_bytes / 4)},
         {"load", load_block(line.block)},
         {"nothing", single() || extremum_.largest ? w.nothing : "0xffffffffu"},
         {"windows", windows(w, reach, exchanged, wanted)},
         {"wanted", wanted},
         {"pack", pack_block(line.block)},
         {"out_row_0", out.row("(y + 0)")},
         {"out_row_1", out.row("(y + 1)")},
         {"store_0", single() ? wide_store(cls_, "to", "best", line.block, tuning.load_bytes)
                              : words_of(false, "(GLOBAL uchar*)to", "row0", row_bytes)},
         {"store_1", words_of(false, "(GLOBAL uchar*)to", "row1", row_bytes)}});
    const int across = made * line.block, down = lines * rows, items = line.items;
    builder_.kernel(name_, items, text,
                    [size = size(), across, down, items](const LaunchContext& at) {
                      return launch_tiles(size(at), across, down, items);
                    });
  }

  // Where no work-item reads another one's registers, through local memory.
  Line exchanged_by(Line line) const {
    if (!builder_.features().exchanges) line.sub_groups = false;
    return line;
  }

  // Element of pixels side by side; a work-item has eight rows of one.
  void column_kernel(const PlaneText& in, const PlaneText& out, const Reach& reach) {
    const Element w = words(bytes_of(cls_) == 1);
    const std::string height = builder_.height(self());
    const int across = builder_.tuning().column_words, blocks = builder_.tuning().column_blocks;
    const Line line{column_block, across * blocks, across, false};
    const int before = reach.blocks_before(column_block), after = reach.blocks_after(column_block);
    const int made = blocks - before - after, items = line.items;
    const int in_word = 4 / bytes_of(cls_);
    const std::string words_across =
        builder_.of_size(Builder::name(self()) + "_words", self(),
                         [in_word](Size size) { return (size.width + in_word - 1) / in_word; });
    const std::string wanted = "x < " + words_across + " && of_line >= " + number(before) +
                               " && of_line < " + number(blocks - after);
    const auto step = [&](const PlaneText& plane) {
      return "(" + plane.stride + " / " + number(in_word) + ")";
    };
    const std::string text = builder_.filled(part(kernels::van_herk, "columns"),
                                             {{"in_local", "1"},
                                              {"stored", w.in_local},
                                              {"values", number(line.block * line.items)},
                                              {"across", number(across)},
                                              {"made", number(made)},
                                              {"before", number(before)},
                                              {"type", w.type},
                                              {"word", single() ? "float" : "uint"},
                                              {"in", in.pointer},
                                              {"in_step", step(in)},
                                              {"words_across", words_across},
                                              {"height", height},
                                              {"widen", w.widen},
                                              {"nothing", w.nothing},
                                              {"windows", windows(w, reach, line, wanted)},
                                              {"wanted", wanted},
                                              {"out", out.pointer},
                                              {"out_step", step(out)},
                                              {"narrow", w.narrow}});
    const int per_group = made * column_block;
    builder_.kernel(name_, items, text,
                    [size = size(), across, per_group, in_word, items](const LaunchContext& at) {
                      const Size s = size(at);
                      const std::int64_t words = (s.width + in_word - 1) / in_word;
                      return launch_tiles(Size{words, s.height}, across, per_group, items);
                    });
  }

  // The best of a few pixels; places outside give way to the nearest inside, which the window has.
  void gather_kernel(const PlaneText& in, const PlaneText& out, std::vector<int> dx,
                     std::vector<int> dy) {
    const std::string width = builder_.width(self()), height = builder_.height(self());
    const std::string type = single() ? "float" : "int";
    const std::string better = single() ? (extremum_.largest ? "fmax" : "fmin")
                                        : (extremum_.largest ? "larger" : "smaller");
    std::sort(dx.begin(), dx.end());
    dx.erase(std::unique(dx.begin(), dx.end()), dx.end());
    std::sort(dy.begin(), dy.end());
    dy.erase(std::unique(dy.begin(), dy.end()), dy.end());
    std::string text =
        declared(type, "best", single() ? nothing_of_pixel() : "(int)" + nothing_of_pixel());
    for (const int y : dy) {
      for (const int x : dx) {
        const std::string row = in.row("replicate(y + (" + number(y) + "), " + height + ")"),
                          column = "replicate(x + (" + number(x) + "), " + width + ")";
        text += assigned("best", better + "(best, (" + type + ")(" + row + ")[" + column + "])");
      }
    }
    text += assigned(out.pixel(), single() ? "one_zero(best)" : "(" + type_of(cls_) + ")best");
    builder_.pixel_kernel(name_, width, height, size(), braced(text));
  }

  Builder& builder_;
  int n_;
  const Extremum& extremum_;
  PixelClass cls_;
  std::string name_;  // of the kernel that is written
};

Offer offer_van_herk(const FormQuestion& question) {
  const auto* extremum = as<Extremum>(question.node());
  if (extremum == nullptr) return vetoed("no extremum");
  const Mask& mask = extremum->mask;
  const Footprint f = mask.footprint();
  if (!mask.full() || std::min({f.left, f.right, f.up, f.down}) < 0) {
    return vetoed("its mask is no rectangle around the pixel");
  }
  if (mask.count() == 1) return vetoed("its window is the pixel");
  // A pass along rows and one down columns, and one more for each doubling beyond max_reach. Sides
  // too short for blocks of eight are gathered pixel by pixel.
  constexpr double gathered = 160;
  int passes = 0;
  double operations = 0;
  for (const int side : {mask.width, mask.height}) {
    if (side == 1) continue;
    ++passes;
    operations += side < min_van_herk_side ? gathered : 4;
  }
  for (int side = 2 * max_reach + 1; side < std::max(mask.width, mask.height); side *= 2) ++passes;
  return {.work = {.bytes = 2.0 * passes * bytes_of(question.cls()),
                   .operations = operations,
                   .launches = passes},
          .form = FamilyForm{&van_herk_form},
          .reason = "the cost does not grow with the sides"};
}

}  // namespace

const FormRow van_herk_form = {"van Herk-Gil-Werman", offer_van_herk,
                               [](Builder& builder, const KernelPlan&, int n) -> LaunchTest {
                                 VanHerkWriter(builder, n).write();
                                 return nullptr;
                               }};

}  // namespace impipe::jit
