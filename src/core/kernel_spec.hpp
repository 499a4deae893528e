// Primitives and kernels: what a backend can run. A KernelSpec says everything a kernel's code
// depends on and nothing else: classes, channels, bodies, footprints, borders, masks and the zero
// pattern of weights, but no width, height or argument value.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/body.hpp"
#include "core/image.hpp"

namespace impipe {

class Expression;  // core/expression.hpp: a user's own body
struct HostWork;   // core/host_work.hpp

// What a neighbourhood reads outside the image.
enum class Border {
  constant,   // a value, a launch argument: the node's last
  replicate,  // the nearest pixel: aaa|abcd|ddd
  symmetric,  // the mirror image, edge pixel included, as often as needed: cba|abcd|dcb
  reflect,    // the mirror image without the edge pixel, as often as needed: dcb|abcd|cba
  circular,   // the image repeated: bcd|abcd|abc
  absent,     // nothing: such pixels take no part (morphology)
};
std::string_view name_of(Border border);

// A set of offsets around the output pixel: at(dx, dy) is read for each cell that is set.
struct Mask {
  int width = 0, height = 0;
  int origin_x = 0, origin_y = 0;   // the cell that lies on the output pixel
  std::vector<std::uint8_t> cells;  // row major, 0 or 1
  bool at(int x, int y) const { return cells[y * width + x] != 0; }
  Footprint footprint() const {
    return {origin_x, width - 1 - origin_x, origin_y, height - 1 - origin_y};
  }
  bool full() const;  // every cell is set
  int count() const;
  bool operator==(const Mask&) const = default;
};

// P2P. With `lookup` the second input is a table, read at the pixel's code (intlut).
struct Point {
  const PointBody* body = nullptr;               // or
  std::shared_ptr<const Expression> expression;  // variables: inputs in order, then coordinates
  bool lookup = false;
  bool in_double = false;  // computed in double whatever the classes (imlincomb of single)
  // The body's value is a place in a measured table, rounded and clamped to its ends; the result is
  // the value there. The last argument, which the body does not read, is the table's first element.
  bool in_table = false;
  // Across the channels of one pixel: inputs r, g, b are the channels of the only image. A body
  // with several gray images makes channel c of the result from image c. Arguments that differ from
  // channel to channel come from measurements; see Argument.
  bool mixes_channels = false;
};

// P2P, not sequential: out(x, y) = in at the place that flips and transposition send it to.
// First the transposition (if any), then the flips of the result.
struct Permute {
  bool transpose = false;
  bool flip_x = false, flip_y = false;
  bool operator==(const Permute&) const = default;
};

// P2P, not sequential: a part of the image, or the image with a frame around it. Arguments: left,
// width, top and height, each as a number of pixels and the part of the input's width or height
// that is added to it, (border value); core/placement.hpp says what becomes of them.
struct Window {
  Border border = Border::constant;  // absent: what would lie outside the image is cut off
};

// N2P. One of: a body, an expression in at(dx, dy), or a weighted sum over the mask's cells.
// Weighted sum: acc = 0; for each set cell in row-major order acc = fma(weight, at, acc), float32;
// the weights are the node's arguments, one a set cell. largest, smallest: acc = -inf or inf, then
// acc = at + weight where that is larger (smaller), so that NaN is ignored; weights are heights.
enum class Combine { sum, largest, smallest };
struct Stencil {
  const StencilBody* body = nullptr;
  std::shared_ptr<const Expression> expression;
  Mask taps;
  Combine combine = Combine::sum;  // of the taps
  Border border = Border::constant;
  // The output's size minus the input's, and the input place that lies under output (0, 0):
  // full and valid convolution. 0 everywhere else.
  int grow_x = 0, grow_y = 0;
  int shift_x = 0, shift_y = 0;
  // Not 0: a weighted sum of very many cells of a rectangle, made as a whole by Fourier transforms
  // of square tiles of this side, 512 or 1024. core/fourier_tiles.hpp says what is done with them
  // and how sums are rounded then: not as above, but the same everywhere.
  int fourier_side = 0;
  Footprint footprint() const;
};

// N2P with a weight matrix of rank 1: rows first (taps left to right), then columns (top to
// bottom), each an fma into 0. The row pass is an intermediate image of the input's size: outside
// it the border rule is applied to its own values.
// Arguments: the row weights of the set cells, the column weights of the set cells, (border value).
struct Separable {
  Mask row;     // height 1
  Mask column;  // width 1
  Border border = Border::constant;
  // All cells are set, the row's weights are 1 and the column's are one number w. The sum S is a
  // whole number, which no order of additions changes; it is rounded to float32 once, then S w to
  // float32. Of codes S is at most 2^31 and a row's sums 2^24; of single both are at most 2^24.
  bool any_order = false;
  int grow_x = 0, grow_y = 0;
  int shift_x = 0, shift_y = 0;
  Footprint footprint() const;
};

// N2P. Largest or smallest of the values under the mask, in the image's own class.
// NaN is ignored; a window with nothing in it gives the class's lowest (largest) or highest value,
// -inf or +inf for single.
struct Extremum {
  bool largest = true;
  Mask mask;
};

// N2P. The rank-th smallest (0-based) of the values under the mask, in the image's own class; with
// `average` the mean of that and the next, rounded half away once (medians of even windows).
// With `offsets` one is added to each value first, saturating in the class: the first arguments,
// one a set cell, whole numbers for integer classes.
// With `entropy` instead the entropy in bits of the codes under the mask, of an image of bytes.
// Arguments: t(c) for c from 0 to the mask's cells n, 2^32 c log2(c) as a whole number; a pixel is
// (t(n) - the sum over the codes of t(how often)) / (2^32 n). Result: single.
struct Rank {
  Mask mask;
  int rank = 0;
  bool average = false;
  bool offsets = false;
  Border border = Border::constant;
  bool entropy = false;
};

// R2S, an array of one value a channel. Sums are exact in 64 bits for integer classes and go over
// 32x32 cells in double for single (docs/architecture.md, Numbers); min and max skip NaN.
enum class ReduceKind {
  sum,
  squared_deviation,  // from args[0]
  spread,             // of codes, the same from their mean: core/code_spread.hpp
  absolute_sum,
  min,
  max,
  count,  // how many values there are
  user,
};
std::string_view name_of(ReduceKind kind);
struct Reduce {
  ReduceKind kind = ReduceKind::sum;
  bool finite = false;                           // NaN and infinities are left out
  std::shared_ptr<const Expression> expression;  // user: of acc and x; args[0] is the first acc
};

// R2V, an array of `bins` counts a channel, or of [tiles][bins]: of the tiles that the image has in
// a mirrored frame (core/placement.hpp, tile_grid). Those are centred, with NaN in the first bin.
enum class BinRule {
  centred,  // imhist: floor(v * (bins - 1) / white + 0.5), v clamped to [0, white]; NaN not counted
  codes,    // one bin a code of an integer class
  user,     // the expression gives the bin; outside [0, bins) not counted
};
struct Histogram {
  BinRule rule = BinRule::centred;
  int bins = 256;
  std::shared_ptr<const Expression> expression;
  int across = 1, down = 1;  // tiles
  int tiles() const { return across * down; }
};

// The values at given places of the sorted pixels of each channel: exact, single or uint16.
// Arguments: the 0-based places. An array of `places` values a channel.
struct Select {
  int places = 1;
};

// A small serial computation on measurements.
struct Scalar {
  const ScalarBody* body = nullptr;
  int results = 1;  // values a channel
  int groups = 1;   // of work-items, for a body that knows `group`; it has one measurement
};

// --- Primitives that read their image as a whole and are kernels of their own ---

// Distance of every pixel to the nearest one that is not 0 (semantics.md 7.4), or with `index` the
// 1-based column-major index of that pixel. Result: single without white.
struct Distance {
  enum class Metric { euclidean, cityblock, chessboard, quasi_euclidean };
  Metric metric = Metric::euclidean;
  bool index = false;
};

// The Radon transform, or its inverse (semantics.md 8.1, 8.2). Arguments: one angle in degrees a
// column of the projections; of the inverse also the first of those that are counted in steps,
// scaling, the result's side (0: from the input). Result: single without white; of the transform
// one column an angle.
struct Project {
  enum class Filter { none, ram_lak, shepp_logan, cosine, hamming, hann };
  int angles = 0;
  bool inverse = false;
  Filter filter = Filter::ram_lak;  // of the inverse
  bool linear = true;               // its interpolation: linear, or nearest
};

// Error diffusion after Floyd and Steinberg, in double (semantics.md 8.4). Result: logical.
struct Diffuse {};

// Connected sets of pixels. One channel; results are logical where nothing else is said.
struct Label {
  enum class Kind {
    components,  // bwlabel: numbers from 1 in column-major order of first pixels; single
    large,       // bwareaopen: the components of at least so many pixels; argument: how many
    holes,       // imfill: the image, and what its border does not reach from outside; any class
    maxima,      // connected equal pixels that have only smaller neighbours
    minima,
    reconstruct,  // images: marker, mask, of any class: the largest under the mask that the marker
                  // reaches
    // Canny's hysteresis. The image (uint8) has codes: 0 is no edge; 1, 2, 4, 8 lead on to the two
    // neighbours with dx = 0, dx = dy, dy = 0, dx = -dy; with 16 more they are edges of themselves.
    // Edges are those and what they lead to. (code & 10 and code & 12 are the direction's bits.)
    reach,
    first_areas,  // how many pixels each component has, at its first pixel in column-major order;
                  // 0 elsewhere; single
    // Meyer's flooding of an image from labelled pixels.
    // Images: the heights, and labels (single; 0: none). Result: labels, single. A GPU leaves NaN
    // in the first pixel of an image that has too many heights for it.
    flood,
  };
  Kind kind = Kind::components;
  int connectivity = 8;  // 4 or 8; of holes: of the background
};

// A picture of another size or place, each output pixel from a few input pixels.
struct Resample {
  // affine, projective: every pixel from a place of the input.
  enum class Kind { resize, affine, projective };
  enum class Method { nearest, bilinear, bicubic, lanczos2, lanczos3, box };
  // What lies beside the image. filled: the fill value stands for pixels outside. on_image: only
  // places on the image have a value (bicubic: up to half a pixel beyond its outer pixels), of
  // pixels mirrored at the ends; all others are the fill value.
  enum class Beside { filled, on_image };
  // The size of a map's result: that given (0: the input's); for angles the round numbers of
  // imrotate; all of the moved image, from the outlines of its pixels.
  enum class View { given, turned, all };
  Kind kind = Kind::resize;
  Method method = Method::bicubic;
  bool antialias = true;
  Beside beside = Beside::filled;
  View view = View::given;
  // resize by bilinear or bicubic: both scales are phases / step exactly, and every output that is
  // a multiple of `phases` further on has the same weights (placement.hpp, whole_ratio); 0: any.
  int phases = 0, step = 0;
  // Arguments. resize: output width and height, scale in x and in y; each 0 when it follows from
  // the others (core/placement.hpp). affine: output width and height (0: the input's), then a b c d
  // e f of (x, y) = (a u + b v + c, d u + e v + f), the input place of output (u, v), 1 when both
  // places are counted from the centres of their images (0: from pixel (0, 0)); the fill value.
  // projective: g h i behind those numbers, by whose (g u + h v + i) both are divided; then the
  // fill value.
};

// Tables of 3x3 windows of a logical image, again and again: so often, or until nothing changes (or
// two images take turns). A window's index has bit 3 (dy + 1) + dx + 1 for its pixel (dx, dy).
// Argument: how often; inf: as often as it takes. Result: logical.
struct Morph {
  using Table = std::bitset<512>;  // whether the window's pixel is 1 afterwards
  // In turn, each for all pixels of what the one before it made. With `in_fields` two: which pixels
  // may change, asked once, then what becomes of those in four fields one after the other: even and
  // odd columns of even rows, then of odd ones.
  std::vector<Table> tables;
  bool in_fields = false;
  bool outside = false;  // what windows have beside the image
};

// A statistic of the values under the mask, in float32 on shifted values, so that a variance keeps
// its digits (decisions/0072); single. NaN stays NaN. With the first of n values f, d = x - f,
// s = sum of d and q = fma(d, d, q): the mean is fma(s, 1/n, f), and the squared deviations are
// q - s (1/n) s, or 0 where that is negative.
// Rectangles, in two passes: each column of the window from top to bottom; then the columns' means
// from left to right, whose squared deviations count `height` times and are added to the columns'.
// Nested columns, as those of discs: core/deviation.hpp.
// Other masks: runs of cells downwards are summed, then these sums column by column, all shifted by
// the first cell.
// Covariance: two passes with fma(d, e, q) and q - s (1/n) t, which is not clamped.
//
// Divisions by n, N and N - 1 are products with the rounded reciprocal.
//
// weighted: what the body makes of four statistics of two images, the means of their sum and of
// their difference and the variances of both, under a square of weights that are those of a row
// times those of a column; the nearest pixel outside. Pixels count from one near them: pixel i of a
// row, i a multiple of `run`, to i + run - 1 from pixel i + 2 (run 4) or i (run 1). With dx and dy
// so counted and s = dx + dy, each weight w, from left to right: m = fma(w, s, m),
// q = fma(w, s s, q); then the row's mean is (x + y) + m, x and y the shifts, and
// its variance v = fma(-m, m, q). Columns likewise, from top to bottom, of the rows' means, with
// q = fma(w, fma(s, s, v), q). Differences are the same with s = dx - dy.
// Arguments: the weights of a row, which add up to 1, and those of the body.
struct Moments {
  static constexpr int max_columns_by_passes = 124;
  enum class Of {
    deviation,   // of the sample: N - 1; 0 of one value
    variance,    // N
    covariance,  // of two images: N
    mean,
    weighted,  // of two images, by the body
  };
  Mask mask;  // a rectangle for all but deviations
  Of of = Of::deviation;
  Border border = Border::symmetric;  // or replicate, or constant, which is 0
  const PointBody* body = nullptr;
  bool by_passes() const {
    return of != Of::deviation || (mask.full() && mask.width <= max_columns_by_passes);
  }
  // weighted: pixels that count from one of them. What a far pixel adds to a variance by its
  // roundings is little only where the window weighs it.
  int run() const { return mask.origin_x < 4 ? 1 : 4; }
};
std::string_view name_of(Moments::Of of);

// Each pixel by tables of the tiles that a Histogram counts: its bin's values in those of the
// four tiles whose centres lie around it, weighed by its distances from them, in double:
//   ((ny - wy) upper + wy lower) / (ny nx), upper and lower: (nx - wx) left + wx right.
// Beyond the outer centres there is half a tile between a tile and itself. Argument: the tables'
// first element, measured; tables of whole numbers for integer classes. Result: the image's class.
struct BetweenTables {
  int across = 1, down = 1, bins = 256;
};

// What is summed over the objects of an image of labels (any class) and perhaps of an image of
// codes beside it. Result: records of core/object_table.hpp, as many as the launch's measurement
// holds; the node's `values` are those of one record.
struct Objects {};

// An image that the host makes of whole images, whatever the device is: outlines that are filled,
// systems of equations. The executor brings the images and takes the result; no backend runs it.
struct OnHost {
  std::shared_ptr<const HostWork> work;
};

using Primitive = std::variant<Point, Permute, Stencil, Separable, Extremum, Rank, Reduce,
                               Histogram, Select, Scalar, Distance, Project, Diffuse, Label,
                               Resample, Window, Morph, Moments, BetweenTables, Objects, OnHost>;

// Where a launch argument comes from.
struct Argument {
  enum class Source {
    constant,  // value
    measured,  // element of a measurement input of the step; of each channel's own when
               // per_channel (the result then differs from channel to channel)
    width,     // of the node's first input
    height,
    pixels,      // width * height
    rank_floor,  // floor(value * pixels), at most pixels - 1
    rank_ceil,   // ceil(value * pixels) - 1, at least 0
  };
  Source source = Source::constant;
  double value = 0;
  int measure = 0;  // index into the step's measurement inputs or nodes, see Operand
  int element = 0;
  bool per_channel = false;
  bool operator==(const Argument&) const = default;
};

// An image or measurement a node reads: an input of the kernel, or an earlier node's result.
struct Operand {
  bool external = true;
  int index = 0;
  bool operator==(const Operand&) const = default;
};

// One primitive inside a kernel.
struct Node {
  Primitive primitive;
  std::vector<Operand> images;
  std::vector<Operand> measures;    // Argument::measure indexes this list
  std::vector<Argument> arguments;  // values are launch arguments, sources are part of the key
  // The result: an image of this class and channels, or `values` doubles a channel.
  bool is_measure = false;
  PixelClass cls = PixelClass::uint8;
  int channels = 1;
  std::int64_t values = 0;
  double white = 255;  // of the result, a launch argument; 0 when there is none
  // In a kernel for planes: an earlier node that is the same point of another channel, with the
  // same arguments; -1 where there is none.
  int alike = -1;
};

// Which channel of an image or measurement a kernel for planes reads or writes (plane_kernel.hpp).
inline constexpr int own_channel = -1;  // that of the plane it runs for
inline constexpr int whole_image = -2;  // the only one there is, for all planes of its image

struct KernelInput {
  bool is_measure = false;
  PixelClass cls = PixelClass::uint8;
  int channels = 1;
  double white = 255;
  std::int64_t values = 0;    // measurements: doubles a channel
  int channel = own_channel;  // or one of 0, 1, …
};

// A kernel: nodes in an order in which each reads only earlier ones.
struct KernelSpec {
  std::vector<KernelInput> inputs;
  std::vector<Node> nodes;
  std::vector<int> outputs;  // nodes whose results leave the kernel
  // Kernels for planes: the channel of each output that is written, own_channel where it is empty;
  // and how many planes of an image the kernel runs for. The latter is no part of the key.
  std::vector<int> output_channels;
  int planes = 1;

  // Text that is equal for two specs exactly when they can share a kernel. Reads like the plan.
  std::string key() const;
};

}  // namespace impipe
