// Networks for full rectangles, level by level.
#include "backends/cpu/neighbourhood/rank_columns.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

namespace impipe::cpu {

ColumnsNetwork columns_network(int width, int height, int first, int last) {
  ColumnsNetwork network;
  std::vector<int> sizes;     // of the lists of each level
  int left = width * height;  // values of a window that may still be a result
  for (int k = 0; width >> k > 0; ++k) {
    const std::vector<int> from = k == 0 ? std::vector<int>(static_cast<std::size_t>(height), 1)
                                         : std::vector<int>(2, sizes.back());
    const int size = k == 0 ? height : 2 * sizes.back();
    // Entry i of a list has at least i values below it and size - 1 - i above it.
    const int low = std::max(0, first - (left - size));
    const int high = std::max(0, size - 1 - last);
    network.merges.push_back(selection_network(from, low, size - 1 - high, MergeOrder::shortest));
    sizes.push_back(size - low - high);
    // A window is this many lists of the level, and what is left over of lower ones.
    const int lists = width >> k;
    left -= lists * (low + high);
    first -= lists * low;
    last -= lists * low;
  }
  std::vector<int> lengths;
  for (int k = static_cast<int>(sizes.size()) - 1; k >= 0; --k) {
    if ((width >> k & 1) == 0) continue;
    network.parts.push_back(k);
    lengths.push_back(sizes[static_cast<std::size_t>(k)]);
  }
  network.selection = selection_network(lengths, first, last, MergeOrder::as_given);
  return network;
}

std::shared_ptr<const ColumnsNetwork> kept_columns_network(int width, int height, int first,
                                                           int last) {
  static std::mutex mutex;
  static std::map<std::array<int, 4>, std::shared_ptr<const ColumnsNetwork>> kept;
  const std::lock_guard lock(mutex);
  auto& network = kept[{width, height, first, last}];
  if (network == nullptr) {
    network = std::make_shared<ColumnsNetwork>(columns_network(width, height, first, last));
  }
  return network;
}

}  // namespace impipe::cpu
