// The pass over cells for sub-groups that exchange registers (CUDA): groups go down their columns,
// with some rows of each work-item under way, whatever they wait for at the end of a cell.
//   $items       of a group
//   $sub_groups  sub-groups of it
//   $rows        of a work-item that are under way
//   $merged      cells of a row that a group puts together
//   $count       such runs of cells
//   $run         of them that a work-item of the end puts together
//   $in_item     the columns of a work-item in pairs
//   $of_cell     then those of a cell, of a run of cells, of the runs of several sub-groups
//   $of_items    the totals of a sub-group, and of all sub-groups
//   $scalars     what is computed from the results alone

// Alone: of the totals of the work-items of a sub-group.
FUNCTION double of_sub_group(double v) {
  // -- part: join(int from, expr end, type type, name total = v, stmt test, expr both)
  // The totals of some work-items of a sub-group in its first, in pairs.
#pragma unroll
  for (int step = $from; step < $end; step *= 2) {
    const $type other = beside_$type($total, step);
    $test $total = $both;
  }
  // -- end
  return v;
}

// -- part: kernel(int folds, int sub_groups, int items, expr width, expr height, expr merged,
//    bool has_sums, bool has_extremes, stmt of_sub_group_of_extremes, stmt of_group_of_extremes,
//    expr one_chunk, buffer ticket, expr groups, stmt scalars)
// Cells of several columns, and what the last group makes of all of them.
KERNEL($items) void cells_in_sub_groups(GLOBAL const float* $image, GLOBAL uint* $ticket,
                                   GLOBAL double* $cells, GLOBAL double* $out) {
  LOCAL double sums[2 * $folds * $sub_groups];
  LOCAL float extremes[$folds * $sub_groups];
  LOCAL int is_last;
  const int x0 = (GROUP_X * $items + ITEM) * 4, inside = x0 < $width;
  const int cells_across = ($width + 31) / 32, cells_down = ($height + 31) / 32;
  const int in_cell = x0 % 32, wide = smaller(32, $width - (x0 - in_cell));
  const int merged = $merged;
  // -- part: first_rows(buffer image, expr stride, int rows, expr height)
  // The first rows of the first cell.
  GLOBAL const float* const column = $image + (inside ? x0 : 0);
  const long stride = $stride;
  float rows[4 * $rows];
#pragma unroll
  for (int r = 0; r < $rows; ++r) {
    const int y = (cells_down - 1 - GROUP_Y) * 32 + r;
    load_16_float(column + smaller(y, $height - 1) * stride, rows + 4 * r);
  }
  // -- end
  // -- part: begin_extreme(name name, expr first)
  // The extremes of the columns of a work-item.
  float totals_$name[4] = {$first, $first, $first, $first};
  // -- end
  int parity = 0;
  // From below: what was written last is in the cache still.
  for (int down = cells_down - 1 - GROUP_Y; down >= 0; down -= GROUPS_Y) {
    // -- part: begin_sum(name name, expr first)
    // The sums of the columns of a work-item in a cell.
    double totals_$name[4] = {$first, $first, $first, $first};
    // -- end
    // -- part: rows_of_cell(int rows, expr height)
    // The rows of a cell, while those after them are loaded.
#pragma unroll 1
    for (int part = 0; part < 32; part += $rows) {
      const int y = down * 32 + part;
      const int next = part + $rows < 32 ? y + $rows : (down - GROUPS_Y) * 32;
      const int left = $height - y, left_next = next < 0 ? 0 : $height - next;
      GLOBAL const float* from = column + larger(smaller(next, $height - 1), 0) * stride;
#pragma unroll
      for (int r = 0; r < $rows; ++r) {
        if (r < left) {
          const float* const p = rows + 4 * r;
          // -- part: accumulate(type type, name name, expr map)
          // A row of them.
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            const $type v = p[k], total = totals_$name[k];
            totals_$name[k] = $map;
          }
          // -- end
        }
        if (r < left_next) load_16_once_float(from, rows + 4 * r);
        from += stride;
      }
    }
    // -- end
#if $has_sums
    // -- part: end_of_cell(name name, stmt in_item, stmt of_cell, stmt of_run, buffer cells)
    // The columns of a cell, then cells of an aligned run, which belong together whatever comes
    // after.
    double of_$name;
    {
      $in_item
      double v = totals_$name[0];
      $of_cell
      $of_run
      if (merged <= 4 && ITEM % (8 * merged) == 0 && inside) {
        $cells[(down * cells_across + x0 / 32) / merged] = v;
      }
      of_$name = v;
    }
    // -- end
    if (merged > 4) {
      // -- part: put_sub_group(int folds, int fold, int sub_groups, name name)
      // The sum of a sub-group, for those beside it.
      if (ITEM % SUB_GROUP == 0)
        sums[($folds * parity + $fold) * $sub_groups + ITEM / SUB_GROUP] = of_$name;
      // -- end
      BARRIER;
      if (ITEM < SUB_GROUP) {
        const int first = (GROUP_X * $items + ITEM * SUB_GROUP) * 4;
        // -- part: run_of_sub_groups(int folds, int fold, int sub_groups, stmt of_sub_groups,
        //    expr width, buffer cells)
        // Runs of cells of several sub-groups.
        {
          double v = sums[($folds * parity + $fold) * $sub_groups + ITEM % $sub_groups];
          $of_sub_groups
          if (ITEM < $sub_groups && ITEM % (merged / 4) == 0 && first < $width) {
            $cells[(down * cells_across + first / 32) / merged] = v;
          }
        }
        // -- end
      }
    }
#endif
    parity = 1 - parity;
  }
#if $has_extremes
  // -- part: extreme_of_items(name name, expr first, expr width, expr both)
  // The extreme of what a work-item has seen.
  float of_$name = $first;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float v = of_$name, other = x0 + k < $width ? totals_$name[k] : $first;
    of_$name = $both;
  }
  // -- end
  $of_sub_group_of_extremes
  BARRIER;
  if (ITEM < SUB_GROUP) {
    $of_group_of_extremes
  }
#endif
  if ($one_chunk && is_last_group($ticket, GROUPS_X * GROUPS_Y, &is_last)) {
    // -- part: runs(name name, int run, expr count, buffer cells)
    // What the last group begins with, all of which is under way together: runs of cells, and the
    // extremes of groups.
    double of_$name, all_$name[$run];
#pragma unroll
    for (int k = 0; k < $run; ++k) {
      all_$name[k] = ITEM * $run + k < $count ? $cells[ITEM * $run + k] : 0.0;
    }
    // -- end
#if $has_extremes
    // -- part: first_extreme(name name = extreme, expr first)
    // The extreme of all groups.
    float of_$name = $first;
    // -- end
#pragma unroll 2
    for (int i = ITEM; i < $groups; i += $items) {
      // -- part: next_extreme(name name, buffer cells, expr both)
      // That of another group.
      {
        const float v = of_$name, other = (float)$cells[i];
        of_$name = $both;
      }
      // -- end
    }
#endif
    // -- part: sum_of_runs(int run, name name, expr count, expr both)
    // The sum of the runs of a work-item.
#pragma unroll
    for (int step = 1; step < $run; step *= 2) {
#pragma unroll
      for (int k = 0; k + step < $run; k += 2 * step) {
        const double v = all_$name[k], other = all_$name[k + step];
        if (ITEM * $run + k + step < $count) all_$name[k] = $both;
      }
    }
    of_$name = all_$name[0];
    // -- end
    // -- part: of_sub_group(type type, name name, stmt of_items, name shared = sums, int fold,
    //    int sub_groups)
    // What the work-items of a sub-group have, in its first; then what the sub-groups have.
    {
      $type v = of_$name;
      $of_items
      if (ITEM % SUB_GROUP == 0) $shared[$fold * $sub_groups + ITEM / SUB_GROUP] = v;
    }
    // -- end
    BARRIER;
    if (ITEM < SUB_GROUP) {
      // -- part: of_group(type type, name shared, int fold, int sub_groups, stmt of_all,
      //    expr to = $out[0])
      // What the sub-groups of a group have, in its first work-item.
      {
        $type v = $shared[$fold * $sub_groups + ITEM % $sub_groups];
        $of_all
        if (ITEM == 0) $to = v;
      }
      // -- end
    }
    $scalars
  }
}
