// The pass over cells for sub-groups that exchange registers (CUDA): groups go down their columns,
// with some rows of each work-item under way, whatever they wait for at the end of a cell.
#define $items 256  // of a group
#define $sub_groups 8    // sub-groups of it
#define $width 1000
#define $height 700
#define $stride 1024
#define $rows 16    // of a work-item that are under way
#define $merged 4   // cells of a row that a group puts together
#define $count 704  // such runs of cells
#define $run 16     // of them that a work-item of the end puts together
#define $folds 1
#define $fold 0
#define $groups 4
#define $has_sums 1
#define $has_extremes 1
#define $type double
#define $shared sums
#define $first 0.0
#define $map total + v
#define $both v + other

// Alone: of the totals of the work-items of a sub-group.
#define $total v
#define $from 1
#define $end 32
#define $test
#define beside_$type beside_double
FUNCTION double of_sub_group(double v) {
  // -- part: join
  // The totals of some work-items of a sub-group in its first, in pairs.
#pragma unroll
  for (int step = $from; step < $end; step *= 2) {
    const $type other = beside_$type($total, step);
    $test $total = $both;
  }
  // -- end
  return v;
}

// -- part: kernel
// Cells of several columns, and what the last group makes of all of them.
#define $in_item    // the columns of a work-item in pairs
#define $of_cell    // then those of a cell, of a run of cells, of the runs of several sub-groups
#define $of_run
#define $of_sub_groups
#define $of_items   // the totals of a sub-group, and of all sub-groups
#define $of_all
#define $one_chunk 1
#define $scalars    // what is computed from the results alone
KERNEL($items) void cells_in_sub_groups(GLOBAL const float* $image, GLOBAL uint* $ticket,
                                   GLOBAL double* $cells, GLOBAL double* $out) {
  LOCAL double sums[2 * $folds * $sub_groups];
  LOCAL float extremes[$folds * $sub_groups];
  LOCAL int is_last;
  const int x0 = (GROUP_X * $items + ITEM) * 4, inside = x0 < $width;
  const int cells_across = ($width + 31) / 32, cells_down = ($height + 31) / 32;
  const int in_cell = x0 % 32, wide = smaller(32, $width - (x0 - in_cell));
  const int merged = $merged;
  // -- part: first_rows
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
#define totals_$name totals_of_extreme
  // -- part: begin_extreme
  // The extremes of the columns of a work-item.
  float totals_$name[4] = {$first, $first, $first, $first};
  // -- end
#undef totals_$name
  int parity = 0;
  // From below: what was written last is in the cache still.
  for (int down = cells_down - 1 - GROUP_Y; down >= 0; down -= GROUPS_Y) {
    // -- part: begin_sum
    // The sums of the columns of a work-item in a cell.
    double totals_$name[4] = {$first, $first, $first, $first};
    // -- end
    // -- part: rows_of_cell
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
          // -- part: accumulate
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
    // -- part: end_of_cell
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
      // -- part: put_sub_group
      // The sum of a sub-group, for those beside it.
      if (ITEM % 32 == 0) sums[($folds * parity + $fold) * $sub_groups + ITEM / 32] = of_$name;
      // -- end
      BARRIER;
      if (ITEM < 32) {
        const int first = (GROUP_X * $items + ITEM * 32) * 4;
        // -- part: run_of_sub_groups
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
#define totals_$name totals_of_extreme
#define of_$name of_extreme
#define $of_sub_group_of_extremes
#define $of_group_of_extremes
#if $has_extremes
  // -- part: extreme_of_items
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
  if (ITEM < 32) {
    $of_group_of_extremes
  }
#endif
#undef of_$name
  if ($one_chunk && is_last_group($ticket, GROUPS_X * GROUPS_Y, &is_last)) {
    // -- part: runs
    // What the last group begins with, all of which is under way together: runs of cells, and the
    // extremes of groups.
    double of_$name, all_$name[$run];
#pragma unroll
    for (int k = 0; k < $run; ++k) {
      all_$name[k] = ITEM * $run + k < $count ? $cells[ITEM * $run + k] : 0.0;
    }
    // -- end
#define of_$name of_extreme_of_groups
#if $has_extremes
    // -- part: first_extreme
    // The extreme of all groups.
    float of_$name = $first;
    // -- end
#pragma unroll 2
    for (int i = ITEM; i < $groups; i += $items) {
      // -- part: next_extreme
      // That of another group.
      {
        const float v = of_$name, other = (float)$cells[i];
        of_$name = $both;
      }
      // -- end
    }
#endif
#undef of_$name
    // -- part: sum_of_runs
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
#define $to $out[0]
    // -- part: of_sub_group
    // What the work-items of a sub-group have, in its first; then what the sub-groups have.
    {
      $type v = of_$name;
      $of_items
      if (ITEM % 32 == 0) $shared[$fold * $sub_groups + ITEM / 32] = v;
    }
    // -- end
    BARRIER;
    if (ITEM < 32) {
      // -- part: of_group
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
