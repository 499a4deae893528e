// Writes the text of a block kernel: wide loads, windows in registers, a row after the other.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

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

  // The points that are made in lanes. Before everything else.
  void make_in_lanes(const std::set<int>& points) { in_lanes_ = points; }

  // The array with a row of the block of an operand: [px].
  std::string centre(const Operand& operand);

  // The row pass of separable node n as floats.
  std::string row_pass(int n, const std::string& name);

  // The array NAME [count] of one row in class `cls`, of the floats `value` of k; bytes as words
  // too.
  void pixels_of_floats(const std::string& name, PixelClass cls, int count,
                        const std::string& value);

  // The kernel, with the block in `array` stored to `plane`, by launches for which `wanted` holds.
  void kernel(const std::string& name, const std::string& array, const PlaneText& plane,
              PixelClass cls, std::function<Size(const LaunchContext&)> size,
              const std::string& height, LaunchTest wanted = nullptr);

 protected:
  // Whether an operand's pixels are read from memory.
  bool is_plane(const Operand& operand) const {
    return operand.external || (operand.index != root_ && plan_.stored(operand.index));
  }
  // The image of codes that point node n is a function of, code by code.
  std::optional<Operand> tabled(int n) const { return plan_.node(n).codes; }

  // The block's rows r, which start at x0, y0: made by row_text_ and stored from `array`.
  std::string rows_text(const std::string& array, const PlaneText& plane, PixelClass cls,
                        const std::string& height) const;

  // A neighbourhood of a block: [rows][width], whose element `first` is the block's first.
  struct Window {
    std::string array;
    int rows = 0, width = 0, first = 0;
  };

  std::string loop(const std::string& variable, int count) const;
  // Loops over the pixels k of the block's row r.
  std::string for_each_pixel(const std::string& step) const;
  static bool names_place(const Node& node);

  void load_centre(const Operand& operand, const std::string& name);
  // The plane's pixels from where node move_ sends them: words at any byte, all rows at once.
  void load_moved(const Operand& operand, const std::string& name);

  // Node n's pixel for the code ITEM of its source.
  std::string code_value(int n, const Operand& source);

  // The table of node n in local memory; returns its name. Groups of points make it themselves and
  // go on from block to block; others copy what a kernel before them has made.
  std::string table(int n, const Operand& source);

  void point_centre(int n, const std::string& name);

  // The tile in the local array `name`, of elements of `type`. outside: text of the value that a
  // constant border has.
  void fill_points(const PointTile& tile, const Operand& operand, const std::string& name,
                   const std::string& type, Border border, const std::string& outside);
  // Of `row` of a block with what is around it, from `left` elements before the block on.
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

  // Text of the place of the pixel in a window, from r, i, c.
  static std::string place_in(const Window& w, int dx, int dy, int up);

  void weighted(const std::string& name, const Window& w, const Mask& mask,
                const std::string& weight, PixelClass cls);

  void around(int n, const std::string& name);

  void stencil_body(int n, const std::string& name, const Window& w, const Footprint& f);

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
  void stream_tile(int n, const std::string& own, const std::string& name, const std::string& type,
                   const std::string& start, int halo, int across, const Footprint& f,
                   const std::string& step, const std::string& real);
  // A step of that for an extremum over a mask: runs of the line's values, each length from the
  // longest shorter one, then rows of the mask, run by run. `most`: values that an instruction
  // joins, two or three.
  std::string extremes_step(const Mask& mask, const std::string& type, const std::string& better,
                            int most, const std::string& sums, int halo, int rows) const;
  // An extremum of one channel: row after row of the tile into the results of all outputs.
  void extremes_tile(int n, const std::string& name);
  // The same of bytes in lanes: a tile of words.
  void extremes_tile_of_lanes(int n, const std::string& name);
  // Between the rows that share words.
  int rows_apart() const { return py_ / 2 * (tile_ ? to_.tuning().group / 32 : 1); }
  // A weighted sum of one channel: row after row of the tile into the sums of all outputs.
  void weighted_tile(int n, const std::string& name);

  // --- bytes in the lanes of words
  // The words around the block, row by row.
  struct Words {
    std::string array;
    int rows = 0, width = 0;  // in words
    int first = 0;            // the byte of a row that is the block's first
    // Where the array is in local memory: of the first word of `row`, and words from row to row.
    std::string place = "";
    int apart = 0;
  };
  Words words_around(const Operand& operand, const Footprint& f, Border border,
                     const std::string& fill, const std::string& own);
  // The same of what points make, from local memory.
  void words_of_points(const Operand& operand, const Footprint& f, Border border,
                       const std::string& fill, const std::string& own, Words& words);
  // The words at the image's edge, where the border repeats pixels of one channel.
  std::string words_repeated(const Words& words, const std::string& line) const;
  // A window of lanes: rows r and r + py/2 of the words; node after node in `lane_rows_`. clean:
  // the upper half of each lane is 0.
  Window lanes(const Operand& operand, const Footprint& f, Border border, const std::string& fill,
               const std::string& own, bool clean = false);
  // Node n in lanes.
  void around_lanes(int n, const std::string& name);
  std::string extremes_of_lanes(const Extremum& extremum, const Window& w,
                                const std::string& result, const std::string& own);
  // The name of the array of the extremes of `length` elements side by side; `known`: those there
  // are, by length.
  std::string run_of_lanes(std::map<int, std::string>& known, int length, const Window& w,
                           const std::string& better, const std::string& own);
  // A body's sums in lanes, and what it makes of them in floats. rounded: as bytes, which is what a
  // root is good for.
  void sums_of_lanes(int n, const std::string& name, bool rounded = false);
  // The array NAME of one row, and words, of two rows of `codes`; place: of their bytes in them.
  void words_of_codes(const std::string& name, const std::string& codes, const std::string& place,
                      int row);
  // The mean of 3x3 bytes.
  void means_of_lanes(int n, const std::string& name);
  // Point node n in lanes, of images in lanes.
  void point_of_lanes(int n, const std::string& name);
  // The text of pixel k of an operand in lanes, the rest of which is 0; empty where there is none.
  std::string lane_pixel(const Operand& operand) const;
  // The array of two rows of lanes `made_NAME` as that of one row, and as words.
  void rows_of_made(int n, const std::string& name);
  // The loop over the rows of lanes.
  std::string pairs_text(const std::string& array, const PlaneText& plane, PixelClass cls,
                         const std::string& height) const;

  // What makes a row of a window's lanes, from `row`.
  struct LaneRows {
    Footprint f;
    std::string text;
  };
  struct LaneWindow {
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
  std::vector<LaneRows> lane_rows_;
  std::vector<LaneWindow> lane_windows_;
  std::vector<LaneWindow> windows_;                 // of extrema in rectangles; kind: their type
  std::map<std::string, std::string> lane_pixels_;  // nodes that are there in lanes: pixel k
  std::set<int> in_lanes_;                          // points that are to be there
  std::string pair_text_;    // what rows r and r + py/2 are made of, in lanes
  bool reads_rows_ = false;  // row_text_ reads memory
  bool around_ = false;      // there is a window
  bool interior_ = false;    // one of a plane: the kernel says whether it lies inside
  Footprint reach_;
  int reach_left_ = 0;  // pixels to the left that aligned loads reach
};

}  // namespace impipe::jit
