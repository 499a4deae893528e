// Ranks of windows side by side.
#include "backends/jit/text/window_ranks.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "backends/jit/text/networks.hpp"

namespace impipe::jit {

WindowRanks::WindowRanks(const Rank& rank, int count)
    : rank_(rank), results_(static_cast<std::size_t>(count)) {
  ranks_ = {rank.rank};
  if (rank.average) ranks_.push_back(rank.rank + 1);
  for (int x = 0; x < rank.mask.width; ++x) {
    for (int y = 0; y < rank.mask.height; ++y) {
      if (rank.mask.at(x, y)) mask_.push_back({x, y});
    }
  }
  const Cells common = shared(0, count);
  find(0, count, between(sorted(common), 0, common));
  mark();
}

int WindowRanks::made(Value::Of of, int a, int b) {
  const auto [found, is_new] =
      known_.insert({{static_cast<int>(of), std::minmax(a, b)}, static_cast<int>(values_.size())});
  if (is_new) values_.push_back({of, a, b});
  return found->second;
}

// By Batcher's odd-even merge.
WindowRanks::List WindowRanks::merged(const List& a, const List& b) {
  List values = a, wires_a(a.size()), wires_b(b.size());
  values.insert(values.end(), b.begin(), b.end());
  for (std::size_t i = 0; i < a.size(); ++i) wires_a[i] = static_cast<int>(i);
  for (std::size_t i = 0; i < b.size(); ++i) wires_b[i] = static_cast<int>(a.size() + i);
  std::vector<Comparator> steps;
  const List order = merge_wires(wires_a, wires_b, steps);
  for (const Comparator& step : steps) {
    int& low = values[static_cast<std::size_t>(step.low)];
    int& high = values[static_cast<std::size_t>(step.high)];
    const int smaller = smaller_of(low, high);
    high = larger_of(low, high);
    low = smaller;
  }
  List out;
  for (const int wire : order) out.push_back(values[static_cast<std::size_t>(wire)]);
  return out;
}

// Each column by itself, then neighbouring columns, in pairs that begin at odd ones, as those that
// windows have beside what all of them share do.
WindowRanks::List WindowRanks::sorted(const Cells& cells) {
  if (cells.empty()) return {};
  if (const auto found = sorted_.find(cells); found != sorted_.end()) return found->second;
  List list;
  if (cells.size() == 1) {
    list = {static_cast<int>(values_.size())};
    values_.push_back({Value::Of::cell, cells[0].first, cells[0].second});
  } else {
    Cells::const_iterator middle;
    if (cells.front().first == cells.back().first) {
      middle = cells.begin() + static_cast<std::ptrdiff_t>((cells.size() + 1) / 2);
    } else {
      std::vector<Cells::const_iterator> columns;
      for (auto it = cells.begin(); it != cells.end(); ++it) {
        if (it == cells.begin() || std::prev(it)->first != it->first) columns.push_back(it);
      }
      const std::size_t half = std::bit_floor(columns.size() - 1);
      const bool odd = cells.front().first % 2 == 1 || columns.size() == 2;
      middle = columns[odd ? half : columns.size() - half];
    }
    list = merged(sorted({cells.begin(), middle}), sorted({middle, cells.end()}));
  }
  sorted_[cells] = list;
  return list;
}

WindowRanks::Cells WindowRanks::shared(int begin, int end) const {
  Cells common;
  for (const auto& [x, y] : mask_) {
    bool in_all = true;
    for (int i = begin; i < end && in_all; ++i) {
      const int at = x + begin - i;
      in_all = at >= 0 && rank_.mask.at(at, y);
    }
    if (in_all) common.push_back({x + begin, y});
  }
  return common;
}

// Of a list of the values of `cells` from the rank `below` on: those that can still have the rank
// of a window that has more cells.
WindowRanks::Part WindowRanks::between(List list, int below, Cells cells) const {
  const int all = static_cast<int>(cells.size()), more = static_cast<int>(mask_.size()) - all;
  const int first = std::max(below, ranks_.front() - more), last = std::min(all - 1, ranks_.back());
  Part part{{}, first, std::move(cells)};
  if (first <= last) {
    part.list.assign(list.begin() + (first - below), list.begin() + (last - below + 1));
  }
  return part;
}

// The ranks of windows [begin, end), of which `part` is what they share.
void WindowRanks::find(int begin, int end, const Part& part) {
  if (end - begin == 1) {
    find_last(begin, part, {});
    return;
  }
  const int middle = (begin + end) / 2;
  for (const auto& [first, last] : {std::pair(begin, middle), std::pair(middle, end)}) {
    Cells cells = shared(first, last), more;
    std::ranges::set_difference(cells, part.cells, std::back_inserter(more));
    const List list = sorted(more);
    if (last - first == 1) {
      find_last(first, part, list);
    } else {
      find(first, last, between(merged(part.list, list), part.below, std::move(cells)));
    }
  }
}

// The ranks of a window whose cells are those of `part` and `more`, both in order.
void WindowRanks::find_last(int window, const Part& part, const List& more) {
  for (const int rank : ranks_) {
    int found = -1;
    for (const RankTerm& term : rank_terms(rank - part.below, static_cast<int>(part.list.size()),
                                           static_cast<int>(more.size()))) {
      const auto first = [&] { return part.list[static_cast<std::size_t>(term.first)]; };
      const auto second = [&] { return more[static_cast<std::size_t>(term.second)]; };
      const int value = term.first < 0    ? second()
                        : term.second < 0 ? first()
                                          : larger_of(first(), second());
      found = found < 0 ? value : smaller_of(found, value);
    }
    results_[static_cast<std::size_t>(window)].push_back(found);
  }
}

void WindowRanks::mark() {
  needed_.assign(values_.size(), false);
  for (const List& results : results_) {
    for (const int value : results) needed_[static_cast<std::size_t>(value)] = true;
  }
  for (std::size_t i = values_.size(); i-- > 0;) {
    if (!needed_[i] || values_[i].of == Value::Of::cell) continue;
    needed_[static_cast<std::size_t>(values_[i].a)] = true;
    needed_[static_cast<std::size_t>(values_[i].b)] = true;
  }
}

int WindowRanks::steps() const {
  int count = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    count += needed_[i] && values_[i].of != Value::Of::cell ? 1 : 0;
  }
  return count;
}

}  // namespace impipe::jit
