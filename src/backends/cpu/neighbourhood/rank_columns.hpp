// Networks for full rectangles: neighbouring windows share sorted columns, sorted pairs of columns,
// sorted fours and so on.
#pragma once

#include <memory>
#include <vector>

#include "backends/cpu/neighbourhood/rank_network.hpp"

namespace impipe::cpu {

struct ColumnsNetwork {
  // merges[0] sorts one column; merges[k] makes the list of 2^k columns from the lists of the first
  // and the second half of them. Results ascend; values that can't matter are left out.
  std::vector<SelectionNetwork> merges;
  // The window, left to right, as lists of 2^k columns: the k of each.
  std::vector<int> parts;
  SelectionNetwork selection;  // from those lists
};

ColumnsNetwork columns_network(int width, int height, int first, int last);

// The same, kept after the first time: tiles ask for it again and again. Any thread.
std::shared_ptr<const ColumnsNetwork> kept_columns_network(int width, int height, int first,
                                                           int last);

}  // namespace impipe::cpu
