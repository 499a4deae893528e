// Batcher's networks, the shortest ones for five values, and the selection from two sorted lists.
#include "backends/jit/text/networks.hpp"

#include <algorithm>
#include <numeric>

namespace impipe::jit {

Network sort_network(int count) {
  Network made;
  made.order.resize(static_cast<std::size_t>(count));
  std::iota(made.order.begin(), made.order.end(), 0);
  if (count == 5) {
    // Nine comparators, the least there are (Knuth, The Art of Computer Programming 3, 5.3.4).
    made.steps = {{0, 1}, {3, 4}, {2, 4}, {2, 3}, {1, 4}, {0, 3}, {0, 2}, {1, 3}, {1, 2}};
    return made;
  }
  for (int p = 1; p < count; p *= 2) {
    for (int step = p; step >= 1; step /= 2) {
      for (int j = step % p; j + step < count; j += 2 * step) {
        for (int i = 0; i < step && i + j + step < count; ++i) {
          if ((i + j) / (2 * p) == (i + j + step) / (2 * p)) {
            made.steps.push_back({i + j, i + j + step});
          }
        }
      }
    }
  }
  return made;
}

std::vector<int> merge_wires(const std::vector<int>& a, const std::vector<int>& b,
                             std::vector<Comparator>& steps) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  if (a.size() == 1 && b.size() == 1) {
    steps.push_back({a[0], b[0]});
    return {a[0], b[0]};
  }
  const auto every_second = [](const std::vector<int>& from, std::size_t first) {
    std::vector<int> out;
    for (std::size_t i = first; i < from.size(); i += 2) out.push_back(from[i]);
    return out;
  };
  const std::vector<int> even = merge_wires(every_second(a, 0), every_second(b, 0), steps);
  const std::vector<int> odd = merge_wires(every_second(a, 1), every_second(b, 1), steps);
  std::vector<int> out = {even[0]};
  for (std::size_t i = 0; i < odd.size() || i + 1 < even.size(); ++i) {
    if (i < odd.size() && i + 1 < even.size()) steps.push_back({odd[i], even[i + 1]});
    if (i < odd.size()) out.push_back(odd[i]);
    if (i + 1 < even.size()) out.push_back(even[i + 1]);
  }
  return out;
}

std::vector<Comparator> pruned(const std::vector<Comparator>& steps, std::set<int> needed) {
  std::vector<Comparator> kept;
  for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
    if (!needed.contains(it->low) && !needed.contains(it->high)) continue;
    needed.insert({it->low, it->high});
    kept.push_back(*it);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

std::vector<RankTerm> rank_terms(int k, int first_count, int second_count) {
  std::vector<RankTerm> terms;
  for (int b = 0; b <= std::min(k + 1, second_count); ++b) {
    const int a = k + 1 - b;  // values of the first list that are not above the k-th
    if (a <= first_count) terms.push_back({a - 1, b - 1});
  }
  return terms;
}

}  // namespace impipe::jit
