// Ranks of windows of one mask side by side, as minima and maxima of values: what windows share is
// put in order once. After Adams, "Fast median filters using separable sorting networks", ACM
// Transactions on Graphics 40 (4), 2021, for masks of any form, in one direction.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "core/kernel_spec.hpp"

namespace impipe::jit {

class WindowRanks {
 public:
  // A cell of a window - x counts from the first cell of the first window on -, or the smaller or
  // larger of two values made before.
  struct Value {
    enum class Of { cell, smaller, larger } of = Of::cell;
    int a = 0, b = 0;  // of a cell: x, y
  };

  // Of `count` windows, each a pixel to the right of the one before, a power of two.
  WindowRanks(const Rank& rank, int count);

  const std::vector<Value>& values() const { return values_; }
  bool is_needed(int value) const { return needed_[static_cast<std::size_t>(value)]; }
  // The value of the rank of a window, and of the next rank where the filter means both.
  const std::vector<int>& of_window(int i) const { return results_[static_cast<std::size_t>(i)]; }
  // Minima and maxima.
  int steps() const;

 private:
  using Cell = std::pair<int, int>;  // x, y
  using Cells = std::vector<Cell>;   // in order
  using List = std::vector<int>;     // values in order
  struct Part {
    List list;      // values of neighbouring ranks in `cells`
    int below = 0;  // those that are left out at the lower end
    Cells cells;
  };

  int smaller_of(int a, int b) { return made(Value::Of::smaller, a, b); }
  int larger_of(int a, int b) { return made(Value::Of::larger, a, b); }
  int made(Value::Of of, int a, int b);
  List merged(const List& a, const List& b);
  List sorted(const Cells& cells);
  Cells shared(int begin, int end) const;
  Part between(List list, int below, Cells cells) const;
  void find(int begin, int end, const Part& part);
  void find_last(int window, const Part& part, const List& more);
  void mark();

  const Rank& rank_;
  std::vector<int> ranks_;
  Cells mask_;
  std::vector<Value> values_;
  std::map<std::pair<int, std::pair<int, int>>, int> known_;
  std::map<Cells, List> sorted_;
  std::vector<List> results_;
  std::vector<bool> needed_;
};

}  // namespace impipe::jit
