// Rows of pixels of a block, each the text that makes the array NAME: loaded, moved, or made of a
// neighbourhood.
#pragma once

#include <string>

#include "backends/jit/block/block_text.hpp"
#include "backends/jit/block/windows.hpp"

namespace impipe::jit {

// Of a plane. ahead: all rows of the next block are loaded before the first is made.
MadeRow loaded_row(const Block& block, const Operand& operand, const std::string& name, bool ahead);
// The plane's pixels from where node `move` sends them: words at any byte, all rows at once.
MadeRow moved_row(const Block& block, const Operand& operand, int move, const std::string& name);

// Of node n, a neighbourhood.
MadeRow neighbourhood_row(const Block& block, KnownWindows& windows, int n,
                          const std::string& name);
// Sums over the row of separable node n alone, as floats.
MadeRow row_pass(const Block& block, int n, const std::string& name);

// --- neighbourhoods, by what they are and where their pixels are
MadeRow ranked_row(const Block& block, int n, const std::string& name);
// Floats in local memory: weighted sums, and extrema; these of packed bytes too.
MadeRow weighted_tile_row(const Block& block, int n, const std::string& name);
MadeRow extremes_tile_row(const Block& block, int n, const std::string& name);
MadeRow packed_extremes_tile_row(const Block& block, int n, const std::string& name);
// Packed bytes in registers: extrema and ranks; a body's sums, and what it makes of them in floats
// (rounded: as bytes, which is what a root is good for); means of 3x3.
MadeRow packed_row(const Block& block, KnownWindows& windows, int n, const std::string& name);
MadeRow packed_sums_row(const Block& block, KnownWindows& windows, int n, const std::string& name,
                        bool rounded = false);
MadeRow packed_means_row(const Block& block, KnownWindows& windows, int n, const std::string& name);

// Whether the weights of a launch make separable node n the mean of 3x3 bytes.
bool is_mean(const LaunchContext& at, int n);

// --- parts of those

// Runs of a mask over a row of a tile in local memory. better: of two values of `type`, most: how
// many of them an instruction joins, two or three. Folds them into `sums` of `rows` rows.
std::string extremes_step(const Block& block, const Mask& mask, const std::string& type,
                          const std::string& better, int most, const std::string& sums, int halo,
                          int rows);
// The row NAME, and words, of the packed rows `made_OWN` of node n.
MadeRow row_of_packed(const Block& block, int n, const std::string& name);

// How values are compared.
struct Order {
  std::string type, smaller, larger, mean;
  std::string of_zeros = "";  // makes a result's -0 a 0
  std::string of_one_zero(const std::string& value) const {
    return of_zeros.empty() ? value : of_zeros + "(" + value + ")";
  }
};
// Text that makes `result` [px] of the ranks of the windows of row r, by what they share.
std::string ranks_of_row(const Block& block, const Rank& rank, const Window& w, const Order& order,
                         const std::string& result);

}  // namespace impipe::jit
