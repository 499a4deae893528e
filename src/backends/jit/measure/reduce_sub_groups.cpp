// The pass over cells for sub-groups that exchange registers.
#include <algorithm>
#include <iterator>

#include "backends/jit/measure/reduce.hpp"
#include "backends/jit/measure/reduce_cells.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/sub_group.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

constexpr int columns = 4, items_a_column = 8, sub_groups = cell_items / sub_group_items;

// What the parts of fold i share. `to`: where a group's extreme, or the last group's result, goes.
Substitutions fold_words(const CellPass& pass, std::size_t i, const std::string& to) {
  const CellFold& fold = pass.folds[i];
  const std::string all_sub_groups = number(sub_groups), run = number(cell_run);
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
       {"of_cell", joined("1", "8", "ITEM % (2 * step) == 0 && in_cell + step * 4 < wide")},
       {"of_run",
        joined("8", "SUB_GROUP", "step < 8 * merged && ITEM % (2 * step) == 0 && inside")},
       {"of_sub_groups",
        joined("1", all_sub_groups,
               "SUB_GROUP * step < 8 * merged && ITEM % (2 * step) == 0 && first < " + pass.width)},
       {"of_items", all_of("SUB_GROUP", run)},
       {"of_all", all_of(all_sub_groups, "SUB_GROUP * " + run)},
       {"cells", pass.cells[i]},
       {"to", to},
       {"fold", number(static_cast<std::int64_t>(i))},
       {"folds", number(std::ssize(pass.folds))},
       {"sub_groups", all_sub_groups},
       {"run", run},
       {"items", number(cell_items)},
       {"count", pass.count},
       {"groups", pass.groups},
       {"width", pass.width}});
}

}  // namespace

std::string cells_in_sub_groups(const CellPass& pass) {
  static_assert(items_a_column * columns == 32);
  const auto own = [](const char* name) -> const Part& {
    return part(kernels::reduce_sub_groups, name);
  };
  const auto fill = [&](const char* name, std::size_t i, const std::string& to) {
    return fold_words(pass, i, to).filled(own(name));
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
  const auto extremes = std::ranges::count(pass.folds, true, &CellFold::extreme);
  const Substitutions rows({{"rows", number(cell_rows_ahead)},
                            {"height", pass.height},
                            {"image", pass.image.pointer},
                            {"stride", pass.image.stride}});
  const std::string accumulate = both("accumulate");
  return filled(own("kernel"),
                {{"folds", number(std::ssize(pass.folds))},
                 {"sub_groups", number(sub_groups)},
                 {"items", number(cell_items)},
                 {"width", pass.width},
                 {"height", pass.height},
                 {"merged", pass.merged},
                 {"first_rows", pass.made_rows ? "" : rows.filled(own("first_rows"))},
                 {"rows_of_cell",
                  pass.made_rows ? pass.made_rows(accumulate)
                                 : rows.filled(own("rows_of_cell"), {{"accumulate", accumulate}})},
                 {"has_sums", extremes < std::ssize(pass.folds) ? "1" : "0"},
                 {"has_extremes", extremes > 0 ? "1" : "0"},
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
