// Finds masks whose columns lie within one another.
#include "core/deviation.hpp"

#include <algorithm>

namespace impipe {
namespace {

constexpr int max_columns = 65;

// The run that the cells of a column are; nothing where they are several, a run of no cells where
// there are none.
std::optional<NestedColumns::Round> run_of_column(const Mask& mask, int x) {
  NestedColumns::Round run{.first = 0, .last = -1, .columns = {x}};
  for (int y = 0; y < mask.height; ++y) {
    if (!mask.at(x, y)) continue;
    if (run.cells() == 0) {
      run.first = y;
    } else if (run.last + 1 != y) {
      return std::nullopt;
    }
    run.last = y;
  }
  return run;
}

// Operations a pixel, halved, are fewer than those of all cells by themselves.
bool pays(const NestedColumns& columns, const Mask& mask) {
  const int rounds = static_cast<int>(columns.rounds.size());
  return 2 * (3 * mask.height + 8 * rounds + 6 * mask.width) < 3 * mask.count();
}

}  // namespace

std::optional<NestedColumns> nested_columns(const Mask& mask) {
  if (mask.width > max_columns) return std::nullopt;
  std::vector<NestedColumns::Round> runs;
  for (int x = 0; x < mask.width; ++x) {
    const auto run = run_of_column(mask, x);
    if (!run) return std::nullopt;
    if (run->cells() > 0) runs.push_back(*run);
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const auto& a, const auto& b) { return a.cells() < b.cells(); });
  NestedColumns out;
  for (const NestedColumns::Round& run : runs) {
    if (out.rounds.empty()) {
      out.start = run.first;
      out.rounds.push_back(run);
      continue;
    }
    NestedColumns::Round& last = out.rounds.back();
    if (run.first > last.first || run.last < last.last) return std::nullopt;
    if (run.cells() == last.cells()) {
      last.columns.push_back(run.columns.front());
    } else {
      out.rounds.push_back(run);
    }
  }
  if (!pays(out, mask)) return std::nullopt;
  return out;
}

}  // namespace impipe
