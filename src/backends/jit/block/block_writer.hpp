// Writes the text of a block kernel: wide loads, windows in registers, a row after the other.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/jit/block/row.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/plan/kernel_plan.hpp"
#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// Whether the weights of a launch make separable node n the mean of 3x3 bytes.
bool is_mean(const LaunchContext& at, int n);

// Four elements of a tile; type: that of numbers.
std::string vector_type(const PointTile& tile, const std::string& type);
std::string element_of(const PointTile& tile, const std::string& vector, int k);

class BlockWriter {
 public:
  // n: the node that the kernel makes, whose plane it does not read.
  BlockWriter(Builder& to, const KernelPlan& plan, int n, BlockSize size, const Operand& sized)
      : to_(to),
        plan_(plan),
        root_(n),
        px_(size.px),
        py_(size.py),
        packed_(size.packed),
        tile_(size.tile),
        points_(size.points),
        groups_(size.groups),
        items_(to.tuning().group),
        sized_(sized) {}

  // The block of point node n with its quotients by reciprocals, stored if all are exact; what is
  // written after it makes the others. Before everything else.
  void quickly(int n, const PlaneText& plane);

  // The points that are made packed. Before everything else.
  void make_packed(const std::set<int>& points) { packed_points_ = points; }

  // The array with a row of the block of an operand: [px].
  std::string centre(const Operand& operand);

  // The row pass of separable node n as floats.
  std::string row_pass(int n, const std::string& name);

  // The kernel, with the block in `array` stored to `plane`, by launches for which `wanted` holds.
  void kernel(const std::string& name, const std::string& array, const PlaneText& plane,
              PixelClass cls, std::function<Size(const LaunchContext&)> size,
              const std::string& height, LaunchTest wanted = nullptr);

  // The row NAME of an operand, which is made so.
  void add(const std::string& name, const Row& row);

  // The block's rows r, which start at x0, y0: made by row_text_ and stored from `array`.
  std::string rows_text(const std::string& array, const PlaneText& plane, PixelClass cls,
                        const std::string& height) const;

  // What the groups make in local memory before their rows.
  const std::string& tables() const { return tables_; }

  // Text by which groups of `items` make the tile of what points make, the local array `name` of
  // elements of `type`. root: the node of the kernel. outside: text of the value that a constant
  // border has.
  static std::string points_in_tile(Builder& to, const KernelPlan& plan, int root, int items,
                                    const PointTile& tile, const Operand& operand,
                                    const std::string& name, const std::string& type, Border border,
                                    const std::string& outside);

 private:
  // What the kernel does, with `rows`, the text that makes and stores the block's rows. goes_on: a
  // group makes one block after the other.
  std::string blocks_text(bool goes_on, const std::string& rows, const std::string& height) const;

  // Whether an operand's pixels are read from memory.
  bool is_plane(const Operand& operand) const {
    return operand.external || (operand.index != root_ && plan_.stored(operand.index));
  }
  // The image of codes that point node n is a function of, code by code.
  std::optional<Operand> tabled(int n) const { return plan_.node(n).codes; }

  void load_centre(const Operand& operand, const std::string& name);
  // The plane's pixels from where node move_ sends them: words at any byte, all rows at once.
  void load_moved(const Operand& operand, const std::string& name);

  // The table of node n in local memory; returns its name. Groups of points make it themselves and
  // go on from block to block; others copy what a kernel before them has made.
  std::string table(int n, const Operand& source);

  void point_centre(int n, const std::string& name);

  // Of `row` of a block with its halo, from `left` elements before the block on.
  std::string place_in_tile(const PointTile& tile, int left) const;
  // The pixels of the blocks of a group.
  Size group_size() const { return {32 * px_, to_.tuning().group / 32 * py_}; }

  void reaches(const Footprint& f);

  // The window of an operand as `type`, by the border's rule.
  Window window(const Operand& operand, const Footprint& f, Border border, const std::string& type,
                const std::string& outside, const std::string& own);
  Window window_of_points(const Operand& operand, const Footprint& f, Border border,
                          const std::string& type, const std::string& outside,
                          const std::string& name);

  void around(int n, const std::string& name);

  // Rows, then columns, from one window.
  void both_passes(int n, const Separable& separable, const std::string& name);

  // The column pass, on the plane that the row pass has made.
  void columns(int n, const Separable& separable, const std::string& name);

  // Runs of the mask's rows: each length from half of itself, for the whole window.
  void extremes(int n, const Extremum& extremum, const std::string& name);

  // The value outside the image of a rank filter, in the class of node n.
  std::string outside_rank(int n, const Rank& rank);
  void ranked(int n, const Rank& rank, const std::string& name);

  // How values are compared.
  struct Order {
    std::string type, sort, smaller, larger, mean;
    std::string sort3 = "";  // of three values at once, where that is cheaper
  };
  // Text that makes `result` [px] of the ranks of the windows of row r.
  std::string ranks_of_row(const Rank& rank, const Window& w, const Order& order,
                           const std::string& result, const std::string& own);
  // The same by one network a window, and by sorted columns that neighbouring windows share.
  std::string ranks_apart(const Rank& rank, const Window& w, const Order& order,
                          const std::string& result);
  std::string ranks_by_columns(const Rank& rank, const Window& w, const Order& order,
                               const std::string& result, const std::string& own);

  // --- floats in local memory
  // Fills `tile_NAME`, vectors of four pixels, `across` of them a row.
  void fill_tile(int n, const std::string& own, const Footprint& f, Border border,
                 const std::string& outside, const std::string& type, int halo, int across);
  // Row after row of the tile as `line`, `step` for each, on `sums` of the block's pixels, which
  // begin as `start`; then the results. `real`: the type they are converted from, if they are.
  void walk_tile(int n, const std::string& own, const std::string& name, const std::string& type,
                 const std::string& start, int halo, int across, const Footprint& f,
                 const std::string& step, const std::string& real);
  // A step of that for an extremum over a mask: runs of the line's values, each length from the
  // longest shorter one, then rows of the mask, run by run. `most`: values that an instruction
  // joins, two or three.
  std::string extremes_step(const Mask& mask, const std::string& type, const std::string& better,
                            int most, const std::string& sums, int halo, int rows) const;
  // An extremum of one channel: row after row of the tile into the results of all outputs.
  void extremes_tile(int n, const std::string& name);
  // The same of packed bytes: a tile of words.
  void extremes_tile_of_packed(int n, const std::string& name);
  // Fills that tile; `fill`: a word outside the image.
  void fill_packed_tile(const Operand& image, const std::string& own, const Footprint& f,
                        const std::string& fill);
  // Between the rows that share words.
  int rows_apart() const { return py_ / 2 * (tile_ ? to_.tuning().group / 32 : 1); }
  // A weighted sum of one channel: row after row of the tile into the sums of all outputs.
  void weighted_tile(int n, const std::string& name);

  // --- packed bytes: 16 bits each, two to a word
  // The words around the block, row by row.
  struct WordRows {
    std::string array;
    int rows = 0, width = 0;  // in words
    int first = 0;            // the byte of a row that is the block's first
    // Where the array is in local memory: of the first word of `row`, and words from row to row.
    std::string place = "";
    int apart = 0;
  };
  WordRows words_around(const Operand& operand, const Footprint& f, Border border,
                        const std::string& fill, const std::string& own);
  // The same of what points make, from local memory.
  void words_of_points(const Operand& operand, const Footprint& f, Border border,
                       const std::string& fill, const std::string& own, WordRows& words);
  // The words at the image's edge, where the border repeats pixels of one channel.
  std::string words_repeated(const WordRows& words, const std::string& line) const;
  // A packed window: rows r and r + py/2 of the words; node after node in `packed_rows_`. clean:
  // the upper eight bits of each half are 0.
  Window packed_window(const Operand& operand, const Footprint& f, Border border,
                       const std::string& fill, const std::string& own, bool clean = false);
  // Node n, packed.
  void around_packed(int n, const std::string& name);
  std::string extremes_of_packed(const Extremum& extremum, const Window& w,
                                 const std::string& result, const std::string& own);
  // The name of the array of the extremes of `length` elements side by side; `known`: those there
  // are, by length.
  std::string run_of_packed(std::map<int, std::string>& known, int length, const Window& w,
                            const std::string& better, const std::string& own);
  // A body's packed sums, and what it makes of them in floats. rounded: as bytes, which is what a
  // root is good for.
  void sums_of_packed(int n, const std::string& name, bool rounded = false);
  // The array NAME of one row, and words, of two rows of `codes`; place: of their bytes in them.
  void words_of_codes(const std::string& name, const std::string& codes, const std::string& place,
                      int row);
  // The mean of 3x3 bytes.
  void means_of_packed(int n, const std::string& name);
  // Point node n, packed, of packed images.
  void point_of_packed(int n, const std::string& name);
  // The text of pixel k of a packed operand, the rest of which is 0; empty where there is none.
  std::string packed_pixel(const Operand& operand) const;
  // The array of two packed rows `made_NAME` as that of one row, and as words.
  void rows_of_made(int n, const std::string& name);
  // The loop over the packed rows.
  std::string pairs_text(const std::string& array, const PlaneText& plane, PixelClass cls,
                         const std::string& height) const;

  // What makes a row of a packed window, from `row`.
  struct PackedRows {
    Footprint f;
    std::string text;
  };
  struct PackedWindow {
    Operand image;
    std::string kind;  // border, fill, cleanness
    Footprint f;
    Window window;
  };

  Builder& to_;
  const KernelPlan& plan_;
  int root_;  // the node that is made
  int px_, py_;
  bool packed_, tile_, points_;
  int groups_;
  int items_;           // of a group
  Operand sized_;       // a value of the result's size
  std::string tables_;  // in local memory
  // Of groups that make tables: all rows of the next block are loaded before the first is made.
  std::string load_arrays_, load_text_;
  bool ahead_ = false;  // what is loaded now is
  int move_ = -1;       // the node by which what is made now is moved
  std::string quick_text_;
  Quotients* quotients_ = nullptr;  // where they are by reciprocals
  std::string text_;                // the windows
  std::string row_text_;            // what each row r of the block is made of
  std::set<std::string> made_;
  std::map<std::string, std::string> in_words_;  // arrays that are also there as words: those
  std::vector<PackedRows> packed_rows_;
  std::vector<PackedWindow> packed_windows_;
  std::vector<PackedWindow> windows_;                 // of extrema in rectangles; kind: their type
  std::map<std::string, std::string> packed_pixels_;  // nodes that are there packed: pixel k
  std::set<int> packed_points_;                       // points that are to be there
  std::string pair_text_;    // what rows r and r + py/2 are made of, packed
  bool reads_rows_ = false;  // row_text_ reads memory
  bool around_ = false;      // there is a window
  bool interior_ = false;    // one of a plane: the kernel says whether it lies inside
  Footprint reach_;
  int reach_left_ = 0;  // pixels to the left that aligned loads reach
};

}  // namespace impipe::jit
