// Decides whether a node's kernel can be one of blocks - wide loads, neighbourhoods in registers or
// local memory, wide stores - and of which size. No text is written here.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/jit/plan/packed_arithmetic.hpp"
#include "backends/jit/plan/point_plan.hpp"
#include "backends/jit/program/kernel_context.hpp"
#include "core/body_tree.hpp"

namespace impipe::jit {

// Set cells of a mask side by side, as offsets.
struct Run {
  int y, x, length;
};
std::vector<Run> runs_of(const Mask& mask);
// The same of its columns, downward.
std::vector<Run> columns_of(const Mask& mask);

// Whether the rows of a mask have hardly more than a cell each, as those of a line at an angle.
bool is_sparse(const Mask& mask);
// Whether it is an extremum of bytes over such a mask whose window registers hold.
bool is_line_of_bytes(const Node& node);

// Whether the rows of a weighted sum's mask are a loop: its weights are too many to be unrolled.
bool rolls_rows(const Stencil& stencil);
// Vectors of four that hold a row of such a mask's weights.
inline int weight_vectors(const Mask& mask) { return (mask.width + 3) / 4; }

// The pixels of a work-item, and how it holds their halo.
struct BlockSize {
  int px = 0, py = 0;
  bool packed = false;  // rows r and r + py/2 packed in 16 bits each, the halves of a word
  bool tile = false;    // the group's pixels and their neighbourhood in local memory
  bool points = false;  // no neighbourhood
  int groups = 4;       // at once on a processor, where there is a neighbourhood
  int asked_bytes = 0;  // of a tile for which a kernel asks, for it is larger than any may have
};

// The kernels of blocks that store a node; a launch takes one of them.
struct Blocks {
  BlockSize size;
  std::optional<BlockSize> low;       // for images that have too few blocks of `size`
  bool means = false;                 // the two above are for weights that make a mean, and
  std::optional<BlockSize> weighted;  // this for all others
  // The points that are made packed, as what they are made of is.
  std::set<int> packed_points, weighted_packed_points;
  // Quotients by what is the same for all pixels: first by reciprocals, for blocks in
  // which all of them turn out to be exact.
  bool reciprocals = false;
  // Of points: other nodes that leave the kernel, whose pixels the same blocks make and store.
  std::vector<int> beside = {};
  // Arguments of nodes, if such blocks divide by nothing but these whites: a kernel without
  // quotients is for launches in which all of them are 1.
  std::vector<std::pair<int, std::size_t>> whites = {};
};

// The kernels by which blocks make node n from the planes and, in the same kernel, from the others.
// Nothing where it is not made of points around at most one neighbourhood that is small enough.
std::optional<Blocks> blocks_of(const KernelContext& of, const Planes& planes, int n);
// Blocks::whites of blocks that make and store these nodes.
std::vector<std::pair<int, std::size_t>> whites_of_points(const KernelContext& of,
                                                          const Planes& planes,
                                                          const std::vector<int>& nodes);
bool fits_block(const KernelContext& of, const Planes& planes, int n);

// Whether a block makes both passes of separable node n from one window: they reach one pixel.
bool passes_in_block(const KernelContext& of, int n);
// The block of the kernel of separable node n's row pass, if it can be one.
std::optional<BlockSize> row_block_of(const KernelContext& of, int n);

// Whether node n is made of packed codes: it orders a plane's pixels, of one or two bytes, or makes
// sums of bytes first.
bool takes_packed(const KernelContext& of, const Planes& planes, int n);
// Whether a stencil's body goes over its window by itself, or has many steps.
bool is_long(const Stencil& stencil);
// Whether node n orders many codes of 16 bits, which only of a plane are packed.
bool orders_halves(const KernelContext& of, int n);
// Whether separable node n, of 3x3 weights, can be the mean of its bytes. A launch says whether it
// is: is_mean.
bool can_be_mean(const KernelContext& of, const Planes& planes, int n);

// A stencil's body, with those of its locals that are packed sums.
struct BodySums {
  BodyTrees trees;
  std::set<std::string> sums;
  std::map<std::string, Range> ranges;  // of all locals that have one
};
std::optional<BodySums> sums_of_body(const Stencil& stencil);
LeafRange ranges_in(const BodySums& sums);
// The node with packed sums whose root point node n does nothing but round; none: -1.
int rounded_by(const KernelContext& of, const Planes& planes, int n);

}  // namespace impipe::jit
