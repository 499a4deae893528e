// Decides which images have kernels made for their primitive.
#include "backends/jit/plan/image_plan.hpp"

#include <algorithm>
#include <bit>

#include "backends/jit/plan/block_plan.hpp"
#include "backends/jit/plan/rank_windows.hpp"
#include "core/placement.hpp"

namespace impipe::jit {
namespace {

// Masks that blocks take, as measured on one H200 (docs/benchmarks/h200.md): of bytes, of which a
// register has two, by their cells and sides; of other classes by their sides; those of many runs,
// which make tiles of blocks, too.
constexpr int max_packed_cells = 130, max_packed_side = 15, max_halves_side = 9, max_block_side = 7,
              max_tile_side = 13;
constexpr std::size_t max_block_runs = 24;
constexpr int max_flat_rows = 32;    // of a rectangle that van Herk's row pass alone is made for
constexpr int max_mask_items = 128;  // of a group that goes by the rows of a mask
constexpr std::size_t max_mask_runs = 512;
constexpr int min_histogram_cells = 26;  // windows that networks don't take
// Cells that a network orders for a pixel by itself: of any window that no block holds, and of one
// that has hardly more of them than its longer side.
constexpr int max_network_cells = 41, max_network_line = 63;
// A side of windows of which a sorted tile has enough results.
constexpr int max_tiled_window = 55;
// Windows beyond which joined blocks cost less, as measured on one H100: of wide classes; of bytes,
// columns that a histogram takes as words, and sides where it takes single cells.
constexpr int max_sorted_window = 40, max_counted_columns = 64, max_counted_cells = 45;
// Runs of a mask's columns, of which histograms of bytes count the ends one by one.
constexpr std::size_t max_rank_columns = 96;
// Blocks whose cells have 16 bits as places.
constexpr int max_rank_blocks = 16;

}  // namespace

bool is_rectangle(const KernelContext& of, int n) {
  const auto* extremum = as<Extremum>(of.node(n));
  if (extremum == nullptr || !extremum->mask.full()) return false;
  const Footprint f = extremum->mask.footprint();
  return f.left >= 0 && f.right >= 0 && f.up >= 0 && f.down >= 0 &&
         std::max(extremum->mask.width, extremum->mask.height) >= min_van_herk_side;
}

bool is_flat_rectangle(const KernelContext& of, int n) {
  if (!is_rectangle(of, n)) return false;
  const Mask& mask = as<Extremum>(of.node(n))->mask;
  const int flat = std::min(mask.width, mask.height);
  return flat > 1 && flat < min_van_herk_side;
}

bool fits_mask_runs(const KernelContext& of, int n) {
  const auto* extremum = as<Extremum>(of.node(n));
  if (!of.tuning.fast || extremum == nullptr) return false;
  const Mask& mask = extremum->mask;
  const bool packed = bytes_of(of.node(n).cls) == 1;
  if (mask.full() && (!is_flat_rectangle(of, n) || of.node(n).cls == PixelClass::single ||
                      mask.height > max_flat_rows)) {
    return false;
  }
  const std::size_t runs = runs_of(mask).size();
  const int side = std::max(mask.width, mask.height);
  const bool large = runs > max_block_runs ? side > max_tile_side
                     : packed ? mask.count() > max_packed_cells || side > max_packed_side
                     : of.node(n).cls == PixelClass::uint16 ? side > max_halves_side
                                                            : side > max_block_side;
  const Footprint f = mask.footprint();
  if (packed && is_sparse(mask) && side <= max_sparse_side) return false;
  if (!large || std::min({f.left, f.right, f.up, f.down}) < 0) return false;
  const std::int64_t widest = std::int64_t{4} * (max_mask_items + f.left + f.right);
  const int levels = std::bit_width(static_cast<unsigned>(mask.width));
  return widest * levels <= of.tuning.local_bytes && runs <= max_mask_runs;
}

bool fits_rank_histogram(const KernelContext& of, int n) {
  const auto* rank = as<Rank>(of.node(n));
  return of.tuning.fast && rank != nullptr && !rank->offsets &&
         rank->mask.count() >= min_histogram_cells;
}

bool fits_rank_network(const Tuning& tuning, const Rank& rank, PixelClass cls) {
  const int cells = rank.mask.count(), side = std::max(rank.mask.width, rank.mask.height);
  // Measured on NVIDIA's, which have the other ways to sort, too. Histograms of bytes slide faster
  // than a network orders many cells of few rows, or of few columns.
  const bool line = cells <= 2 * side,
             slides = bytes_of(cls) == 1 && (!line || rank.mask.width <= max_narrow_columns);
  const int most = !tuning.sorted_tiles || slides ? min_histogram_cells - 1
                   : line                         ? max_network_line
                                                  : max_network_cells;
  return tuning.fast && cells <= most;
}

bool takes_columns(const Mask& mask) { return columns_of(mask).size() <= max_rank_columns; }

bool fits_rank_tiles(const KernelContext& of, int n) {
  if (!of.tuning.sorted_tiles || !fits_rank_histogram(of, n)) return false;
  const Mask& mask = as<Rank>(of.node(n))->mask;
  // Histograms of bytes slide faster, but where many single pixels enter and leave.
  const bool narrow = bytes_of(of.node(n).cls) == 1;
  const bool small = mask.full() || mask.height < 17 || takes_columns(mask);
  if (narrow && (small || of.node(n).cls == PixelClass::logical)) return false;
  const std::int64_t bytes = 4 * 6144 + 2 * 4224 + (mask.full() ? 0 : 8 * mask.height);
  return std::max(mask.width, mask.height) <= max_tiled_window &&
         bytes <= std::min<std::int64_t>(of.tuning.max_local_bytes, 48 * 1024);
}

RankBlocksSize RankBlocksSize::of(const Mask& mask) {
  const auto blocks = [](int reach) { return (reach + 2 * rank_tile_side - 2) / rank_tile_side; };
  return {blocks(mask.width), blocks(mask.height)};
}

int RankBlocksSize::sliders() const {
  constexpr int local_bytes = 40 * 1024, run = 32;
  const int each = count() * rank_tile_side * rank_tile_side / run;
  return std::min<int>(rank_tile_side,
                       static_cast<int>(std::bit_floor(static_cast<unsigned>(local_bytes / each))));
}

bool fits_rank_blocks(const KernelContext& of, int n) {
  if (!of.tuning.sorted_tiles || !fits_rank_histogram(of, n)) return false;
  const Mask& mask = as<Rank>(of.node(n))->mask;
  const int side = std::max(mask.width, mask.height);
  const bool narrow = bytes_of(of.node(n).cls) == 1;
  const bool large = !narrow       ? side > max_sorted_window
                     : mask.full() ? mask.width > max_counted_columns
                                   : side > max_counted_cells && !takes_columns(mask);
  return large && RankBlocksSize::of(mask).count() <= max_rank_blocks;
}

bool fits_transposition(const KernelContext& of, const Planes& planes, int n) {
  const auto* permute = as<Permute>(of.node(n));
  return permute != nullptr && permute->transpose && planes.has(of.node(n).images[0]);
}

bool is_affine(const Node& node) {
  const auto* resample = as<Resample>(node);
  return resample != nullptr && resample->kind == Resample::Kind::affine &&
         resample->method != Resample::Method::bicubic;
}

bool is_nearest_resize(const Node& node) {
  const auto* resample = as<Resample>(node);
  return resample != nullptr && resample->kind == Resample::Kind::resize &&
         resample->method == Resample::Method::nearest;
}

bool is_whole_resize(const Node& node) {
  const auto* resample = as<Resample>(node);
  return resample != nullptr && resample->phases > 0;
}

bool fits_resize_tiles(const Node& node) {
  const auto* resample = as<Resample>(node);
  return resample != nullptr && resample->kind == Resample::Kind::resize &&
         resample->method != Resample::Method::nearest;
}

}  // namespace impipe::jit
