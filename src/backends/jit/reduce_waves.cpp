// The pass over cells for waves that exchange registers.
#include "backends/jit/reduce.hpp"
#include "backends/jit/reduce_cells.hpp"
#include "backends/jit/text.hpp"

namespace impipe::jit {
namespace {

constexpr int columns = 4, lanes = 8, wave = 32, waves = cell_items / wave;

constexpr const char* kernel = R"(  LOCAL double sums[2 * $folds * $waves];
  LOCAL float extremes[$folds * $waves];
  LOCAL int is_last;
  const int x0 = (GROUP_X * $items + ITEM) * 4, inside = x0 < $width;
  const int cells_across = ($width + 31) / 32, cells_down = ($height + 31) / 32;
  const int in_cell = x0 % 32, wide = smaller(32, $width - (x0 - in_cell));
  const int merged = $merged;
  GLOBAL const float* const column = $image + (inside ? x0 : 0);
  const long stride = $stride;
  float rows[4 * $rows];
#pragma unroll
  for (int r = 0; r < $rows; ++r) {
    load_16_float(column + smaller(GROUP_Y * 32 + r, $height - 1) * stride, rows + 4 * r);
  }
$extremes_begin  int turn = 0;
  for (int down = GROUP_Y; down < cells_down; down += GROUPS_Y) {
$begin#pragma unroll 1
    for (int part = 0; part < 32; part += $rows) {
      const int y = down * 32 + part;
      const int next = part + $rows < 32 ? y + $rows : (down + GROUPS_Y) * 32;
      const int left = $height - y, left_next = $height - next;
      GLOBAL const float* from = column + smaller(next, $height - 1) * stride;
#pragma unroll
      for (int r = 0; r < $rows; ++r) {
        if (r < left) {
          const float* const p = rows + 4 * r;
$steps        }
        if (r < left_next) load_16_once_float(from, rows + 4 * r);
        from += stride;
      }
    }
$ends    turn = 1 - turn;
  }
$extremes_end  if ($one_chunk && is_last_group($ticket, GROUPS_X * GROUPS_Y, &is_last)) {
$last$scalars  }
)";

constexpr const char* accumulate = R"(#pragma unroll
          for (int k = 0; k < 4; ++k) {
            const $type v = p[k], total = totals_$name[k];
            totals_$name[k] = $map;
          }
)";

// The columns of a cell, then cells of an aligned run, which belong together whatever comes after.
constexpr const char* end_of_cell = R"(    double of_$name;
    {
$in_lane      double v = totals_$name[0];
$of_cell$of_run      if (merged <= 4 && ITEM % (8 * merged) == 0 && inside) {
        $cells[(down * cells_across + x0 / 32) / merged] = v;
      }
      of_$name = v;
    }
)";
constexpr const char* put_wave =
    "      if (ITEM % 32 == 0) sums[($folds * turn + $fold) * $waves + ITEM / 32] = of_$name;\n";
constexpr const char* run_of_waves = R"(        {
          double v = sums[($folds * turn + $fold) * $waves + ITEM % $waves];
$of_waves          if (ITEM < $waves && ITEM % (merged / 4) == 0 && first < $width) {
            $cells[(down * cells_across + first / 32) / merged] = v;
          }
        }
)";

// A wave's extreme of what its work-items have seen.
constexpr const char* extreme_of_items = R"(  float of_$name = $first;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float v = of_$name, other = x0 + k < $width ? totals_$name[k] : $first;
    of_$name = $both;
  }
)";
// What the last group begins with, all of which is under way together: runs of cells, and the
// groups' extremes.
constexpr const char* runs = R"(    double of_$name, all_$name[$run];
#pragma unroll
    for (int k = 0; k < $run; ++k) {
      all_$name[k] = ITEM * $run + k < $count ? $cells[ITEM * $run + k] : 0.0;
    }
)";
constexpr const char* first_extreme = "    float of_$name = $first;\n";
constexpr const char* next_extreme = R"(      {
        const float v = of_$name, other = (float)$cells[i];
        of_$name = $both;
      }
)";
constexpr const char* sum_of_runs = R"(#pragma unroll
    for (int step = 1; step < $run; step *= 2) {
#pragma unroll
      for (int k = 0; k + step < $run; k += 2 * step) {
        const double v = all_$name[k], other = all_$name[k + step];
        if (ITEM * $run + k + step < $count) all_$name[k] = $both;
      }
    }
    of_$name = all_$name[0];
)";

// What the work-items of a wave have, in its first; then what the waves have.
constexpr const char* of_wave = R"(    {
      $type v = of_$name;
$of_items      if (ITEM % 32 == 0) $shared[$fold * $waves + ITEM / 32] = v;
    }
)";
constexpr const char* of_group = R"(      {
        $type v = $shared[$fold * $waves + ITEM % $waves];
$of_all        if (ITEM == 0) $to = v;
      }
)";

}  // namespace

std::string cells_in_waves(const CellPass& pass) {
  static_assert(lanes * columns == 32);
  const auto number = [](std::size_t i) { return std::to_string(i); };
  const std::string all_waves = number(waves), run = number(cell_run);
  // `to`: where a group's extreme, or the result of the last group, goes.
  const auto fill = [&](const char* text, std::size_t i, const std::string& to) {
    const CellFold& fold = pass.folds[i];
    const auto joined = [&](const char* from, const std::string& end, const std::string& test) {
      return joined_in_wave({.type = fold.extreme ? "float" : "double",
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
    return filled(
        text,
        {{"name", fold.name},
         {"type", fold.extreme ? "float" : "double"},
         {"shared", fold.extreme ? "extremes" : "sums"},
         {"first", fold.first},
         {"map", fold.map},
         {"both", fold.both("v", "other")},
         {"in_lane", fold.extreme ? "" : in_lane(fold, "totals_" + fold.name, columns)},
         {"of_cell", joined("1", "8", "ITEM % (2 * step) == 0 && in_cell + step * 4 < wide")},
         {"of_run", joined("8", "32", "step < 8 * merged && ITEM % (2 * step) == 0 && inside")},
         {"of_waves",
          joined("1", all_waves,
                 "32 * step < 8 * merged && ITEM % (2 * step) == 0 && first < " + pass.width)},
         {"of_items", all_of("32", run)},
         {"of_all", all_of(all_waves, "32 * " + run)},
         {"cells", pass.cells[i]},
         {"to", to},
         {"fold", number(i)},
         {"folds", number(pass.folds.size())},
         {"waves", all_waves},
         {"run", run},
         {"items", number(cell_items)},
         {"count", pass.count},
         {"groups", pass.groups},
         {"width", pass.width}});
  };
  // A text of each extreme (or of each other fold), one behind the other.
  const auto each = [&](bool extreme, const char* text) {
    std::string all;
    for (std::size_t i = 0; i < pass.folds.size(); ++i) {
      if (pass.folds[i].extreme == extreme) all += fill(text, i, pass.out[i] + "[0]");
    }
    return all;
  };
  const auto both = [&](const char* text) { return each(false, text) + each(true, text); };
  constexpr const char* begin_extreme =
      "  float totals_$name[4] = {$first, $first, $first, $first};\n";
  constexpr const char* begin_sum =
      "    double totals_$name[4] = {$first, $first, $first, $first};\n";
  std::string extremes_end;
  if (const std::string of_items = each(true, extreme_of_items); !of_items.empty()) {
    extremes_end = of_items + each(true, of_wave) + "  BARRIER;\n  if (ITEM < 32) {\n";
    for (std::size_t i = 0; i < pass.folds.size(); ++i) {
      if (!pass.folds[i].extreme) continue;
      extremes_end += fill(of_group, i, pass.cells[i] + "[GROUP_Y * GROUPS_X + GROUP_X]");
    }
    extremes_end += "  }\n";
  }
  std::string ends;
  if (const std::string of_cells = each(false, end_of_cell); !of_cells.empty()) {
    ends = of_cells + "    if (merged > 4) {\n" + each(false, put_wave) +
           "      BARRIER;\n      if (ITEM < 32) {\n        const int first = (GROUP_X * " +
           number(cell_items) + " + ITEM * 32) * 4;\n" + each(false, run_of_waves) +
           "      }\n    }\n";
  }
  std::string extremes_of_groups = each(true, next_extreme);
  if (!extremes_of_groups.empty()) {
    extremes_of_groups = each(true, first_extreme) +
                         "#pragma unroll 2\n    for (int i = ITEM; i < " + pass.groups +
                         "; i += " + number(cell_items) + ") {\n" + extremes_of_groups + "    }\n";
  }
  const std::string last = each(false, runs) + extremes_of_groups + each(false, sum_of_runs) +
                           both(of_wave) + "    BARRIER;\n    if (ITEM < 32) {\n" + both(of_group) +
                           "    }\n";
  return filled(kernel, {{"folds", number(pass.folds.size())},
                         {"waves", number(waves)},
                         {"items", number(cell_items)},
                         {"width", pass.width},
                         {"height", pass.height},
                         {"merged", pass.merged},
                         {"rows", number(cell_rows)},
                         {"image", pass.image.pointer},
                         {"stride", pass.image.stride},
                         {"extremes_begin", each(true, begin_extreme)},
                         {"begin", each(false, begin_sum)},
                         {"steps", both(accumulate)},
                         {"ends", ends},
                         {"extremes_end", extremes_end},
                         {"one_chunk", pass.one_chunk},
                         {"ticket", pass.ticket},
                         {"last", last},
                         {"scalars", pass.scalars}});
}

}  // namespace impipe::jit
