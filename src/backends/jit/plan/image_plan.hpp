// Decides which images have kernels made for their primitive: large windows, transpositions,
// resampling. No text is written here.
#pragma once

#include "backends/jit/program/kernel_context.hpp"

namespace impipe::jit {

inline constexpr int min_van_herk_side = 9;  // below, windows lie in one block of eight

// Whether node n is an extremum over a rectangle with a side that pays for van Herk's passes.
bool is_rectangle(const KernelContext& of, int n);
// Whether its rectangle is short in one direction: what is too small for one of van Herk's passes.
bool is_flat_rectangle(const KernelContext& of, int n);
// Whether node n is an extremum over a mask so large that going by its rows pays.
bool fits_mask_runs(const KernelContext& of, int n);
// Whether node n is a rank filter of a window so large that a histogram of it, which slides down a
// column, is the way.
bool fits_rank_histogram(const KernelContext& of, int n);
// Whether a rank filter that no block holds orders the few cells of its window by one network, a
// pixel for itself.
bool fits_rank_network(const Tuning& tuning, const Rank& rank, PixelClass cls);
// Whether the columns of such a window's mask are few enough to be counted one by one, of bytes.
bool takes_columns(const Mask& mask);
// Whether it has a wide class and fits tiles of rank_tile_side whose values are sorted.
inline constexpr int rank_tile_side = 64;
bool fits_rank_tiles(const KernelContext& of, int n);
// Whether its window is too large for them, and lies in few blocks of that side, which are sorted
// once. Bytes, too.
bool fits_rank_blocks(const KernelContext& of, int n);
// The blocks in which the windows of rank_tile_side x rank_tile_side results lie.
struct RankBlocksSize {
  int across = 1, down = 1;

  static RankBlocksSize of(const Mask& mask);
  int count() const { return across * down; }
  // Work-items of a group that slide windows: local memory holds a byte for each 32 cells.
  int sliders() const;
  // Whether bytes hold the rows and columns of cells, and a bit more.
  bool packed() const { return across <= 2 && down <= 2; }
};
// Whether node n transposes a plane as a whole.
bool fits_transposition(const KernelContext& of, const Planes& planes, int n);
// Resample nodes: an affine map; a resize that moves pixels only; and one whose groups make a tile
// of the result each.
bool is_affine(const Node& node);
bool is_nearest_resize(const Node& node);
bool is_whole_resize(const Node& node);
bool fits_resize_tiles(const Node& node);

}  // namespace impipe::jit
