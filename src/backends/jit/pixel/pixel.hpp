// Functions that make one pixel of a node, as text, and the parts that others share with them.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/jit/plan/form.hpp"
#include "backends/jit/program/pixel_tile.hpp"
#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// Whether a rank filter that is made so orders its cells by a network; else it searches for the
// rank bit by bit.
bool ranks_by_network(const Tuning& tuning, const Rank& rank, PixelClass cls);

// The function `name`(ARGS, x, y): node n's pixel, in its class.
void write_point(Builder& builder, int n, const std::string& name);
void write_permute(Builder& builder, int n, const std::string& name);
void write_window(Builder& builder, int n, const std::string& name);
// The input's column (or row) under the result's first.
std::string window_parameter(Builder& builder, int n, bool x);
// Reads the image by the function `through` where it is not empty, outside it too.
void write_stencil(Builder& builder, int n, const std::string& name,
                   const std::string& through = "");
// The column pass; reads the plane nN_rows, by the function `through` where it is not empty.
void write_separable(Builder& builder, int n, const std::string& name,
                     const std::string& through = "");
// The kernel of the row pass: an image of the result's width and the input's height, of floats.
void write_separable_rows(Builder& builder, int n, const std::optional<PixelTile>& tile);
// That image.
PlaneText plane_of_rows(Builder& builder, int n);
// two_passes: rows and then columns, of a rectangle.
void write_extremum(Builder& builder, int n, const std::string& name, bool two_passes);
// ordered: its cells by a network, else by a search for the rank.
void write_rank(Builder& builder, int n, const std::string& name, bool ordered);

// A plane in the local memory of groups that make a pixel a work-item (Builder::pixel_kernel).
class GroupTile {
 public:
  // source: text of the plane's pixel x, y; of any place where the tile is framed.
  GroupTile(Builder& builder, const std::string& name, PixelClass cls, const PixelTile& tile,
            const std::string& source, const std::string& width, const std::string& height);
  // What a kernel does before it makes pixels.
  const std::string& fill() const { return fill_; }
  // The function (ARGS, x, y) that reads it.
  const std::string& function() const { return function_; }

 private:
  std::string fill_, function_;
};
// Of the image that node n reads, for the kernel that stores node n.
GroupTile tile_of_image(Builder& builder, const PixelTile& tile, int n);
// Of the image that stencil node n reads, as numbers, by its border's rule outside.
GroupTile framed_tile_of_image(Builder& builder, const PixelTile& tile, int n);
// Of the row pass of separable node n, for its column pass.
GroupTile tile_of_rows(Builder& builder, const PixelTile& tile, int n);

// The text of a pixel of `image` at the place that stands around it.
using PixelText = std::function<std::string(const Operand& image)>;

// Where quotients by what is the same for all pixels are found by reciprocals: `quotients` (struct
// Quotients), which stands around the text, says whether all of them are exact.
struct Quotients {
  bool any_white = false;          // whites are divided by as they are
  bool found = false;              // there are such quotients
  std::set<std::string> units;     // text of the whites, which are taken to be 1
  std::set<std::string> moderate;  // and of what doubles are made of besides codes: 0, or no power
                                   // of two beyond the hundredth
};
// The text of point node n's pixel from those of its images; x and y stand around it. Writes the
// body. quotients: by reciprocals.
std::string point_value(Builder& builder, int n, const PixelText& pixel,
                        Quotients* quotients = nullptr);

// The text of rows of point node n's pixels where they are lines of integer pixels
// (program/quotients.hpp).
struct RampText {
  std::string numbers;  // stands before all rows
  // The array `name` of so many pixels, of the codes in an array.
  std::function<std::string(const std::string& name, int count, const std::string& codes)> row;
};
std::optional<RampText> ramp_text(Builder& builder, int n);

// The value outside the image as a float: the node's last argument.
std::string outside_value(Builder& builder, int n, Border border);
// The value outside the image of rank filter n, in its class: its last argument, which is one of
// that class (ops/filter/correlate.hpp, BorderArgument).
std::string outside_rank(Builder& builder, int n);
// The arguments [first, first + count) of node n, which are weights, as an array of floats.
std::string weights(Builder& builder, int n, const std::string& label, int first, int count);
// The body or expression of stencil node n as a function NAME(first, ...), with at(dx, dy) as
// defined. Returns the arguments that come after those of `first`. `centre`: the pixel itself.
std::vector<std::string> write_stencil_function(Builder& builder, int n, const std::string& name,
                                                const std::string& first, const std::string& at,
                                                const std::string& centre);

// What a variable of an expression is called in kernels.
std::string variable_name(const std::string& variable);

// "uint8_from_float(v)": `value`, a `real`, as a pixel of the class.
std::string converted(PixelClass cls, const std::string& real, const std::string& value);

// Reads `image` outside too: a function `name`(ARGS, x, y) of type `type`. `outside`: the value
// there, for Border::constant and absent. `wide`: places may lie outside to the left and right;
// `tall`: above and below.
void write_border(Builder& builder, const std::string& name, const std::string& type,
                  const std::string& value, Border border, const std::string& outside,
                  const std::string& width, const std::string& height, bool wide = true,
                  bool tall = true);

// Text that runs `step` for each set cell of the mask in row-major order, with dx, dy (offsets)
// and k (which cell) defined. `name`: of the table that holds a mask of many runs.
std::string for_each_cell(Builder& builder, const std::string& name, const Mask& mask,
                          const std::string& step);

}  // namespace impipe::jit
