// Which windows of rank filters registers hold.
#include "backends/jit/plan/rank_windows.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace impipe::jit {
namespace {

// That one kernel may have together with another neighbourhood.
constexpr int max_ranked = 25;
// Cells that are put in order in registers. The histograms and sorted tiles that others take cost
// more for wide windows, not for tall ones, so that flat windows may have any number of cells.
constexpr int max_ordered_bytes = 64, max_ordered_halves = 169, max_ordered = 144;
constexpr int max_mean_bytes = 100;  // two histograms' ranks for each pixel cost half as much again
// Cells of narrow windows of bytes; rows of flat windows.
constexpr int max_narrow_bytes = 36, max_flat = 6;
// Cells of windows that registers hold, by the groups that share a processor.
constexpr std::pair<int, int> max_cells_by_groups[] = {{4, 92}, {3, 150}, {2, 210}};
// Of a window, whether they are read or not: compilers give up on longer arrays.
constexpr int max_window_text = 2304;

// Cells that a block reads of the windows of a mask, each in a register: of packed codes a cell is
// one of two rows.
int cells_of(const Mask& mask, const BlockSize& size) {
  const int rows = size.packed ? size.py / 2 : size.py;
  const auto is_read = [&](int x, int y) {
    for (int i = std::max(0, x - mask.width + 1); i <= std::min(x, size.px - 1); ++i) {
      for (int r = std::max(0, y - mask.height + 1); r <= std::min(y, rows - 1); ++r) {
        if (mask.at(x - i, y - r)) return true;
      }
    }
    return false;
  };
  int cells = 0;
  for (int y = 0; y < mask.height + rows - 1; ++y) {
    for (int x = 0; x < mask.width + size.px - 1; ++x) cells += is_read(x, y) ? 1 : 0;
  }
  return cells;
}

}  // namespace

std::optional<BlockSize> size_for_ranks(const Mask& mask, bool packed, int cells,
                                        const std::function<bool(const BlockSize&)>& has_room) {
  const int least = packed ? 2 : 1;
  for (const int px : is_sparse(mask) ? std::array{4, 8} : std::array{8, 4}) {
    for (const auto& [groups, room] : max_cells_by_groups) {
      const int most = std::min(room, cells);
      const bool tall = groups == BlockSize{}.groups;
      for (const int py : {8, 4, 2, 1}) {
        const BlockSize size{.px = px, .py = py, .packed = packed, .groups = groups};
        if (py < least || (py > least && !tall) || px * py > 32 * least) continue;
        const int all = (mask.width + px - 1) * (mask.height + py / least - 1);
        if (all <= max_window_text && cells_of(mask, size) <= most && has_room(size)) return size;
      }
    }
  }
  for (const auto& [groups, room] : max_cells_by_groups) {
    if (room > cells) return size_for_ranks(mask, packed, room, has_room);
  }
  return std::nullopt;
}

bool can_be_ordered(const Rank& rank, int bytes) {
  const Mask& mask = rank.mask;
  if (mask.count() <= max_ranked) return true;
  int most = bytes == 4 ? max_ordered : max_ordered_halves;
  if (bytes == 1) {
    most = mask.width < 3                     ? max_ranked
           : mask.width <= max_narrow_columns ? max_narrow_bytes
           : rank.average                     ? max_mean_bytes
                                              : max_ordered_bytes;
  }
  const bool flat = mask.height <= max_flat && mask.width > max_narrow_columns;
  if (mask.count() > most && !flat) return false;
  return size_for_ranks(mask, bytes < 4, max_cells_by_groups[2].second,
                        [](const BlockSize&) { return true; })
      .has_value();
}

}  // namespace impipe::jit
