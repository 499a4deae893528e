// Which windows of rank filters are put in order in registers, and how many pixels a work-item
// makes then (docs/decisions/0068).
#pragma once

#include <functional>
#include <optional>

#include "backends/jit/plan/block_plan.hpp"

namespace impipe::jit {

// Columns of windows down which histograms of bytes slide faster than their cells are ordered.
inline constexpr int max_narrow_columns = 4;

// Whether registers hold what orders the cells of a window, of pixels of so many bytes.
bool can_be_ordered(const Rank& rank, int bytes);
// The block whose registers hold the windows of a mask that are put in order together, if there is
// room for it. Windows side by side share the most, those of a line at an angle nothing. cells:
// that registers hold, if any block of the mask has no more (Tuning::ranked_cells).
std::optional<BlockSize> size_for_ranks(const Mask& mask, bool packed, int cells,
                                        const std::function<bool(const BlockSize&)>& has_room);

}  // namespace impipe::jit
