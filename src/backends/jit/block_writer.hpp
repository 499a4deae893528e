// Writes the text of a block kernel: wide loads, windows in registers, a row after the other.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/jit/block.hpp"
#include "backends/jit/builder.hpp"

namespace impipe::jit {

template <class T>
const T* as(const Node& node) {
  return std::get_if<T>(&node.primitive);
}

// Set cells of a mask side by side, as offsets.
struct Run {
  int y, x, length;
};
std::vector<Run> runs_of(const Mask& mask);

struct BlockSize {
  int px = 0, py = 0;
};

// The image of codes that a node is a function of, code by code: unary points above one plane of
// bytes. Nothing for others.
std::optional<Operand> coded_by(const Builder& to, const IsStored& stored, const Operand& operand);

class BlockWriter {
 public:
  BlockWriter(Builder& to, IsStored stored, BlockSize size, const Operand& sized)
      : to_(to), stored_(std::move(stored)), px_(size.px), py_(size.py), sized_(sized) {}

  // The array with a row of the block of an operand: [px][channels].
  std::string centre(const Operand& operand);

  // The row pass of separable node n as floats.
  std::string row_pass(int n, const std::string& name);

  // The kernel, with the block in `array` stored to `plane`.
  void kernel(const std::string& name, const std::string& array, const PlaneText& plane,
              PixelClass cls, std::function<Size(const LaunchContext&)> size,
              const std::string& height);

 protected:
  // The block's rows r, which start at x0, y0: made by row_text_ and stored from `array`.
  std::string rows_text(const std::string& array, const PlaneText& plane, PixelClass cls,
                        const std::string& height) const;

  // A neighbourhood of a block: [rows][width], whose element `first` is the block's first.
  struct Window {
    std::string array;
    int rows = 0, width = 0, first = 0;
    int channels = 1;
  };

  std::string loop(const std::string& variable, int count) const;
  // Loops over the pixels and channels of the block's row r, with x, c and k, the place in the
  // row's array.
  std::string for_each_pixel(int channels, const std::string& step) const;
  static bool names_place(const Node& node);

  void load_centre(const Operand& operand, const std::string& name);

  // Node n's pixel for the code ITEM of its source.
  std::string code_value(int n, const Operand& source);

  // The kernel that makes the table of node n, and its copy in local memory; returns its name.
  std::string table(int n, const Operand& source);

  // The source and table of node n, where a table is what makes it.
  std::optional<Operand> tabled(int n) const;

  void point_centre(int n, const std::string& name);

  // The native pixels of an operand around the block, which lies inside with its window.
  std::string raw_window(const Operand& operand, const Window& w, const Footprint& f,
                         std::string& text);

  // Whether the points before a neighbourhood can be computed for a whole window: they depend on
  // nothing but their pixel.
  bool simple_points(const Operand& operand, int channels) const;

  // The window of an operand as `type`; `edge`: the function that reads it anywhere.
  Window window(const Operand& operand, const Footprint& f, const std::string& type,
                const std::string& edge, const std::string& name);

  // Text of the place of the pixel in a window, from r, i, c.
  static std::string place_in(const Window& w, int dx, int dy, int up);

  void weighted(const std::string& name, const std::string& type, const Window& w, const Mask& mask,
                const std::string& weight, int channels, PixelClass cls);

  void around(int n, const std::string& name);

  void stencil_body(int n, const std::string& name, const Window& w, const Footprint& f);

  // The column pass, on the plane that the row pass has made.
  void columns(int n, const Separable& separable, const std::string& name);

  // Runs of the mask's rows: each length from half of itself, for the whole window.
  void extremes(int n, const Extremum& extremum, const std::string& name);

  // A sorting network (Batcher's odd-even merge) without the comparisons that nobody needs.
  void ranked(int n, const Rank& rank, const std::string& name);

  Builder& to_;
  IsStored stored_;
  int px_, py_;
  Operand sized_;         // a value of the result's size
  std::string tables_;    // their copies in local memory
  std::string text_;      // the windows
  std::string row_text_;  // what each row r of the block is made of
  std::set<std::string> made_;
  bool interior_ = false;
  Footprint reach_;
  int reach_left_ = 0;  // pixels to the left that aligned loads reach
};

}  // namespace impipe::jit
