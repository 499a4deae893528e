// Sorting networks for kernels that take ranks: comparators on wires, without those nobody needs.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "backends/jit/text/emit.hpp"

namespace impipe::jit {

// Puts the smaller value on wire `low`, the larger on `high`.
struct Comparator {
  int low, high;
};

struct Network {
  std::vector<Comparator> steps;
  std::vector<int> order;  // the wires, smallest value first
};

// Sorts wires 0 to count - 1.
Network sort_network(int count);

// Merges sorted wires by Batcher's odd-even merge; returns them in order.
std::vector<int> merge_wires(const std::vector<int>& a, const std::vector<int>& b,
                             std::vector<Comparator>& steps);

// The steps that the values on `needed` depend on.
std::vector<Comparator> pruned(const std::vector<Comparator>& steps, std::set<int> needed);

// "order_int(&s[0], &s[3]);" for each step; `wire` names a wire.
template <class Wire>
std::string network_text(const std::vector<Comparator>& steps, const std::string& order,
                         Wire wire) {
  std::string text;
  for (const Comparator& c : steps) {
    text += statement(order + "(&" + wire(c.low) + ", &" + wire(c.high) + ")");
  }
  return text;
}

// A way to the k-th smallest of two sorted lists: the smallest over all terms of the larger of
// first[a] and second[b]; -1: that list has no part in the term.
struct RankTerm {
  int first, second;
};
std::vector<RankTerm> rank_terms(int k, int first_count, int second_count);

}  // namespace impipe::jit
