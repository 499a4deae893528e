// The pass over cells for sub-groups that exchange registers.
#include <algorithm>

#include "backends/jit/measure/reduce.hpp"
#include "backends/jit/measure/reduce_cells.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

constexpr int columns = 4, items_a_column = 8, sub_group = 32, sub_groups = cell_items / sub_group;

}  // namespace

std::string cells_in_sub_groups(const CellPass& pass) {
  static_assert(items_a_column * columns == 32);
  const auto number = [](std::size_t i) { return std::to_string(i); };
  const std::string all_sub_groups = number(sub_groups), run = number(cell_run);
  // `to`: where a group's extreme, or the result of the last group, goes.
  const auto fill = [&](const char* name, std::size_t i, const std::string& to) {
    const CellFold& fold = pass.folds[i];
    const auto joined = [&](const char* from, const std::string& end, const std::string& test) {
      return joined_in_sub_group({.type = fold.extreme ? "float" : "double",
                                  .total = "v",
                                  .both = fold.both("v", "other"),
                                  .from = from,
                                  .end = end,
                                  .test = test});
    };
    // The last group joins runs of cells that exist; of extremes all are joined.
    const auto all_of = [&](const std::string& end, const std::string& cells) {
      const std::string pairs = "ITEM % (2 * step) == 0 && (ITEM + step) * " + cells;
      return joined("1", end, fold.extreme ? "" : pairs + " < " + pass.count);
    };
    return Substitutions(
               {{"name", fold.name},
                {"type", fold.extreme ? "float" : "double"},
                {"shared", fold.extreme ? "extremes" : "sums"},
                {"first", fold.first},
                {"map", fold.map},
                {"both", fold.both("v", "other")},
                {"in_item", fold.extreme ? "" : in_item(fold, "totals_" + fold.name, columns)},
                {"of_cell",
                 joined("1", "8", "ITEM % (2 * step) == 0 && in_cell + step * 4 < wide")},
                {"of_run",
                 joined("8", "32", "step < 8 * merged && ITEM % (2 * step) == 0 && inside")},
                {"of_sub_groups",
                 joined(
                     "1", all_sub_groups,
                     "32 * step < 8 * merged && ITEM % (2 * step) == 0 && first < " + pass.width)},
                {"of_items", all_of("32", run)},
                {"of_all", all_of(all_sub_groups, "32 * " + run)},
                {"cells", pass.cells[i]},
                {"to", to},
                {"fold", number(i)},
                {"folds", number(pass.folds.size())},
                {"sub_groups", all_sub_groups},
                {"run", run},
                {"items", number(cell_items)},
                {"count", pass.count},
                {"groups", pass.groups},
                {"width", pass.width}})
        .filled(part(kernels::reduce_sub_groups, name));
  };
  // A part for each extreme (or for each other fold), one behind the other.
  const auto each = [&](bool extreme, const char* name) {
    std::string all;
    for (std::size_t i = 0; i < pass.folds.size(); ++i) {
      if (pass.folds[i].extreme == extreme) all += fill(name, i, pass.out[i] + "[0]");
    }
    return all;
  };
  const auto both = [&](const char* name) { return each(false, name) + each(true, name); };
  std::string extremes_of_group;
  for (std::size_t i = 0; i < pass.folds.size(); ++i) {
    if (!pass.folds[i].extreme) continue;
    extremes_of_group += fill("of_group", i, pass.cells[i] + "[GROUP_Y * GROUPS_X + GROUP_X]");
  }
  const auto has = [&](bool extreme) {
    const auto is_it = [&](const CellFold& fold) { return fold.extreme == extreme; };
    return std::any_of(pass.folds.begin(), pass.folds.end(), is_it) ? "1" : "0";
  };
  const Substitutions rows({{"rows", number(cell_rows_ahead)},
                            {"height", pass.height},
                            {"image", pass.image.pointer},
                            {"stride", pass.image.stride}});
  const std::string accumulate = both("accumulate");
  return filled(
      part(kernels::reduce_sub_groups, "kernel"),
      {{"folds", number(pass.folds.size())},
       {"sub_groups", number(sub_groups)},
       {"items", number(cell_items)},
       {"width", pass.width},
       {"height", pass.height},
       {"merged", pass.merged},
       {"first_rows",
        pass.made_rows ? "" : rows.filled(part(kernels::reduce_sub_groups, "first_rows"))},
       {"rows_of_cell", pass.made_rows
                            ? pass.made_rows(accumulate)
                            : rows.filled(part(kernels::reduce_sub_groups, "rows_of_cell"),
                                          {{"accumulate", accumulate}})},
       {"has_sums", has(false)},
       {"has_extremes", has(true)},
       {"groups", pass.groups},
       {"begin_extreme", each(true, "begin_extreme")},
       {"begin_sum", each(false, "begin_sum")},
       {"end_of_cell", each(false, "end_of_cell")},
       {"put_sub_group", each(false, "put_sub_group")},
       {"run_of_sub_groups", each(false, "run_of_sub_groups")},
       {"extreme_of_items", each(true, "extreme_of_items")},
       {"of_sub_group_of_extremes", each(true, "of_sub_group")},
       {"of_group_of_extremes", extremes_of_group},
       {"one_chunk", pass.one_chunk},
       {"ticket", pass.ticket},
       {"runs", each(false, "runs")},
       {"first_extreme", each(true, "first_extreme")},
       {"next_extreme", each(true, "next_extreme")},
       {"sum_of_runs", each(false, "sum_of_runs")},
       {"of_sub_group", both("of_sub_group")},
       {"of_group", both("of_group")},
       {"scalars", pass.scalars}});
}

}  // namespace impipe::jit
