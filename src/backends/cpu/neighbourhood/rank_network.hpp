// Selection networks: the compare-exchanges that bring the values of given ranks out of lists that
// are already sorted, without those that no result depends on. Usable at compile time.
#pragma once

#include <algorithm>
#include <vector>

namespace impipe::cpu {

// wires[low] and wires[high] become their minimum and maximum; of the two, what is read later.
struct Exchange {
  int low = 0, high = 0;
  bool keep_low = true, keep_high = true;
};

struct SelectionNetwork {
  std::vector<Exchange> exchanges;
  std::vector<int> results;  // wires, one a rank asked for
};

namespace network {

using Wires = std::vector<int>;  // in ascending order of what they hold

// Batcher's odd-even merge, of lists of any lengths.
constexpr Wires merge(const Wires& a, const Wires& b, std::vector<Exchange>& exchanges) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  if (a.size() == 1 && b.size() == 1) {
    exchanges.push_back({.low = a[0], .high = b[0]});
    return {a[0], b[0]};
  }
  Wires parts[4];
  for (std::size_t i = 0; i < a.size(); ++i) parts[i % 2].push_back(a[i]);
  for (std::size_t i = 0; i < b.size(); ++i) parts[2 + i % 2].push_back(b[i]);
  const Wires even = merge(parts[0], parts[2], exchanges);
  const Wires odd = merge(parts[1], parts[3], exchanges);
  Wires all{even[0]};
  for (std::size_t i = 0; i + 1 < even.size() || i < odd.size(); ++i) {
    if (i < odd.size() && i + 1 < even.size()) {
      exchanges.push_back({.low = odd[i], .high = even[i + 1]});
    }
    if (i < odd.size()) all.push_back(odd[i]);
    if (i + 1 < even.size()) all.push_back(even[i + 1]);
  }
  return all;
}

// Drops the exchanges and halves of exchanges that no result depends on.
constexpr void prune(SelectionNetwork& network, int wires) {
  std::vector<char> needed(static_cast<std::size_t>(wires), 0);  // of bool is none for clang 14
  for (const int wire : network.results) needed[static_cast<std::size_t>(wire)] = 1;
  std::vector<Exchange> kept;
  for (std::size_t i = network.exchanges.size(); i-- > 0;) {
    Exchange exchange = network.exchanges[i];
    const auto low = static_cast<std::size_t>(exchange.low);
    const auto high = static_cast<std::size_t>(exchange.high);
    exchange.keep_low = needed[low] != 0;
    exchange.keep_high = needed[high] != 0;
    if (!exchange.keep_low && !exchange.keep_high) continue;
    needed[low] = needed[high] = 1;
    kept.push_back(exchange);
  }
  network.exchanges.assign(kept.rbegin(), kept.rend());
}

}  // namespace network

// Sorts wires 0 to n - 1; result i holds the i-th smallest.
constexpr SelectionNetwork sorting_network(int n) {
  SelectionNetwork network;
  std::vector<network::Wires> lists;
  for (int wire = 0; wire < n; ++wire) lists.push_back({wire});
  while (lists.size() > 1) {
    std::vector<network::Wires> merged;
    for (std::size_t i = 0; i + 1 < lists.size(); i += 2) {
      merged.push_back(network::merge(lists[i], lists[i + 1], network.exchanges));
    }
    if (lists.size() % 2 != 0) merged.push_back(lists.back());
    lists = merged;
  }
  network.results = lists[0];
  return network;
}

// How lists are put together: neighbours first to last, or the two shortest at a time. The former
// suits one long list followed by ever shorter ones, the latter equal ones.
enum class MergeOrder { as_given, shortest };

// Of sorted lists of these lengths on consecutive wires: the wires of the ranks first to last
// (0-based) of all their values.
constexpr SelectionNetwork selection_network(const std::vector<int>& lengths, int first, int last,
                                             MergeOrder order) {
  SelectionNetwork network;
  std::vector<network::Wires> sorted;
  int wires = 0;
  for (const int length : lengths) {
    network::Wires list;
    for (int i = 0; i < length; ++i) list.push_back(wires++);
    sorted.push_back(list);
  }
  int left = wires;  // values that may still be a result
  // Entry i of a list of m has at least i values below it and m - 1 - i above it.
  const auto trim = [&](network::Wires& list) {
    const int size = static_cast<int>(list.size());
    const int low = std::max(0, first - (left - size));
    const int high = std::max(0, size - 1 - last);
    list = network::Wires(list.begin() + low, list.end() - high);
    left -= low + high;
    first -= low;
    last -= low;
  };
  for (network::Wires& list : sorted) trim(list);
  while (sorted.size() > 1) {
    for (std::size_t k = 0; order == MergeOrder::shortest && k < 2; ++k) {
      std::size_t shortest = k;
      for (std::size_t i = k + 1; i < sorted.size(); ++i) {
        if (sorted[i].size() < sorted[shortest].size()) shortest = i;
      }
      const network::Wires found = sorted[shortest];
      sorted.erase(sorted.begin() + static_cast<std::ptrdiff_t>(shortest));
      sorted.insert(sorted.begin() + static_cast<std::ptrdiff_t>(k), found);
    }
    network::Wires both = network::merge(sorted[0], sorted[1], network.exchanges);
    sorted.erase(sorted.begin(), sorted.begin() + 2);
    trim(both);
    sorted.insert(order == MergeOrder::shortest ? sorted.end() : sorted.begin(), both);
  }
  for (int rank = first; rank <= last; ++rank) {
    network.results.push_back(sorted[0][static_cast<std::size_t>(rank)]);
  }
  network::prune(network, wires);
  return network;
}

}  // namespace impipe::cpu
