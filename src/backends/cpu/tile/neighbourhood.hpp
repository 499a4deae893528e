// The neighbourhood kernels that take codes as they are: extremum, rank, entropy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cpu/tile/scratch.hpp"
#include "core/body.hpp"
#include "core/kernel_spec.hpp"

namespace impipe::cpu {

// What a kernel reads to make a tile: the rows from y0 - up to y1 + down of its input, borders
// already supplied. For Border::absent what lies outside holds the class's lowest (largest) or
// highest value, -inf or +inf for single.
struct RowsView {
  // rows[0] is the row `up` above the tile's first. Each points at the pixel under the tile's left
  // edge and is valid from -left to width + right; up, down, left and right are the mask's
  // footprint. No alignment is promised.
  const std::byte* const* rows = nullptr;
  std::int64_t width = 0;  // of the tile, in pixels
  std::int64_t height = 0;
  // Pixels at either end of every row that are not there, because they lie outside the image: an
  // extremum leaves them out; a rank filter needs all of them, unless it knows_ends.
  std::int64_t absent_left = 0;
  std::int64_t absent_right = 0;
  // Of such a filter: the pixels of the row, counted from the tile's left edge, that those stand
  // for, outwards from the image; -1: they have the value of the pixel `beside`.
  std::int64_t left_copies[2] = {-1, -1};
  std::int64_t right_copies[2] = {-1, -1};
  const std::byte* beside = nullptr;
  bool far = false;  // the rows lie in memory, not in a tile made shortly before
};

// Where a tile goes: height rows of width pixels.
struct TileOut {
  std::byte* data = nullptr;
  std::int64_t stride = 0;  // bytes from one row to the next
  bool spills = false;      // into memory, of more than the caches keep
};

// Both give the scratch back as they found it.
void run_extremum(const Extremum& extremum, PixelClass cls, const RowsView& in, TileOut out,
                  Scratch& scratch, CpuLevel level);
void run_rank(const Rank& rank, PixelClass cls, const RowsView& in, TileOut out, Scratch& scratch,
              CpuLevel level);
// Whether run_rank takes rows of this width whose first and last pixels are not there.
bool knows_ends(const Rank& rank, PixelClass cls, std::int64_t width, CpuLevel level);
// Whether run_rank streams its results where they spill.
bool streams_rows(const Rank& rank);
// With offsets, one a set cell of the mask.
void run_offset_rank(const Rank& rank, const float* offsets, PixelClass cls, const RowsView& in,
                     TileOut out);
// The entropy of bytes. table: the node's arguments.
void run_entropy(const Rank& rank, std::span<const double> table, const RowsView& in, TileOut out,
                 Scratch& scratch);

}  // namespace impipe::cpu
