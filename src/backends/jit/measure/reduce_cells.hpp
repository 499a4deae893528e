// Reductions by cells: what the kernels of any device and those of sub-groups share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

inline constexpr int cell_items = 256;  // work-items of a group
inline constexpr int cell_run = 16;     // cells that a work-item combines at the end
inline constexpr int cell_chunk = cell_items * cell_run;  // cells that a group combines at the end
// Rows of a work-item that are under way, and groups of it that a processor then holds.
// Few groups with many rows: what is read at once then lies close together.
inline constexpr int cell_rows_ahead = 16, cell_groups = 2;

struct CellFold {
  std::string name;   // of its variables
  std::string first;  // text of a double
  std::string map;    // of `total` and `v`
  bool extreme = false, largest = false;
  std::function<std::string(const std::string&, const std::string&)> both;
};

// The text that puts a work-item's columns of `totals` together, in pairs: those of a cell that
// exist.
std::string in_item(const CellFold& fold, const std::string& totals, int columns);

// What stands in the text of a pass over a plane of floats with one channel.
struct CellPass {
  std::string width, height, merged;       // cells of a row that a group puts together
  std::string count, groups;               // of such runs of cells; of groups
  std::string one_chunk, ticket, scalars;  // the last group ends the pass where that holds
  PlaneText image;
  std::vector<CellFold> folds;
  std::vector<std::string> cells, out;  // of each fold: where parts go, and the result
  // The text that makes a cell's rows `p` and puts them into the totals by `accumulate`; none where
  // they are loaded.
  std::function<std::string(const std::string& accumulate)> made_rows;
};

// That text for the pixels of node n, which are stored on the way (plan/measure_plan.hpp,
// fits_cell_rows).
std::string cell_rows(Builder& builder, int n, const std::string& accumulate);

// The kernel of a device whose sub-groups exchange registers (CUDA): groups go down their columns,
// with sixteen rows of each work-item under way, whatever they wait for at the end of a cell.
std::string cells_in_sub_groups(const CellPass& pass);

}  // namespace impipe::jit
