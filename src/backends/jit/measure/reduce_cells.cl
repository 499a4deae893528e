// Reductions by cells of 32x32 pixels: each column of a cell downward in double, the columns in
// pairs, the cells in pairs in row-major order.
//   $items    of a group
//   $columns  of a work-item, and so many work-items side by side share a cell
//   $merged   cells of a row that a group puts together
//   $count    such runs of cells
//   $run      of them that a work-item of the end puts together
//   $in_item  the columns of a work-item in pairs

// Alone: the ends of folds of one chunk.
FUNCTION double $name_chunk(PARAMS, GLOBAL const double* from, const long count,
                            IN_LOCAL double* parts);
KERNEL($items) void ends(GLOBAL const double* $cells, GLOBAL double* $out) {
  LOCAL double parts[$items];
  // -- part: chunk_end(name name_chunk, buffer cells, expr count, buffer out)
  // The cells where they are one chunk. A kernel of its own, or the end of the last group: in a
  // branch it never ended on PoCL 3.1, which copies the barriers at the end for each way there
  // (findings/pocl-first-item-chooses.sh).
  {
    const double total = $name_chunk(ARGS, $cells, $count, parts);
    if (ITEM == 0) $out[0] = total;
    BARRIER;
  }
  // -- end
  // -- part: extremes_end(expr first, stmt unroll, expr count, int items, buffer cells, expr map,
  //    expr both_items, buffer out)
  // The extremes of all groups.
  {
    double total = $first;
    $unroll
    for (int i = ITEM; i < $count; i += $items) {
      const double v = $cells[i];
      total = $map;
    }
    parts[ITEM] = total;
    for (int step = $items / 2; step > 0; step /= 2) {
      BARRIER;
      if (ITEM < step) parts[ITEM] = $both_items;
    }
    if (ITEM == 0) $out[0] = parts[0];
    BARRIER;
  }
  // -- end
}

// -- part: chunk(name name_chunk, int run, stmt unroll, expr both_runs, int items, expr both_items)
// The runs of cells of a work-item in registers, then those of a group, each in pairs.
FUNCTION double $name_chunk(PARAMS, GLOBAL const double* from, const long count,
                            IN_LOCAL double* parts) {
  double v[$run];
  $unroll
  for (int k = 0; k < $run; ++k) v[k] = ITEM * $run + k < count ? from[ITEM * $run + k] : 0.0;
  $unroll
  for (int step = 1; step < $run; step *= 2) {
    $unroll
    for (int k = 0; k < $run; ++k) {
      if (k % (2 * step) == 0 && ITEM * $run + k + step < count) v[k] = $both_runs;
    }
  }
  BARRIER;
  parts[ITEM] = v[0];
  for (int step = 1; step < $items; step *= 2) {
    BARRIER;
    if (ITEM % (2 * step) == 0 && (ITEM + step) * $run < count) parts[ITEM] = $both_items;
  }
  BARRIER;
  return parts[0];
}

// -- part: cells(int items, int columns, expr height, expr width, int items_a_column, expr merged,
//    stmt begin = double totals[$columns] = {0.0, 0.0, 0.0, 0.0};, stmt unroll,
//    stmt load = float p[4] = {1.0f, 2.0f, 3.0f, 4.0f};, stmt steps)
// A work-item takes some columns of a cell, those of a group lie side by side.
KERNEL($items) void cells(GLOBAL const float* $image, GLOBAL double* $cells) {
  LOCAL double parts[$items];
  const int x0 = (GROUP_X * $items + ITEM) * $columns;
  const int last = smaller(GROUP_Y * 32 + 32, $height);
  const int cells_across = ($width + 31) / 32;
  const int in_cell = x0 % 32, wide = smaller(32, $width - (x0 - in_cell));
  const int of_column = ITEM % $items_a_column, merged = $merged;
  {
    $begin
    if (x0 < $width) {
      int y = GROUP_Y * 32;
      // -- part: batches(expr row = $image + (long)(y + r) * $width, stmt steps)
      // Eight rows are under way before the first is used.
      for (; y + 8 <= last; y += 8) {
        float rows[32];
#pragma unroll
        for (int r = 0; r < 8; ++r) load_16_float($row + x0, rows + 4 * r);
#pragma unroll
        for (int r = 0; r < 8; ++r) {
          const float* const p = rows + 4 * r;
          $steps
        }
      }
      // -- end
      $unroll
      for (; y < last; ++y) {
        $load
        $steps
      }
    }
    // -- part: end_of_cells(stmt in_item, name totals = totals, int items_a_column, int columns,
    //    expr both_items, expr width, buffer cells)
    // The columns of a cell in pairs, then cells.
    {
      $in_item
      BARRIER;
      parts[ITEM] = $totals[0];
      for (int step = 1; step < $items_a_column; step *= 2) {
        BARRIER;
        if (of_column % (2 * step) == 0 && in_cell + step * $columns < wide) parts[ITEM] = $both_items;
      }
      // Cells of an aligned run belong together whatever comes after.
      for (int step = $items_a_column; step < $items_a_column * merged; step *= 2) {
        BARRIER;
        if (ITEM % (2 * step) == 0 && x0 < $width) parts[ITEM] = $both_items;
      }
      if (ITEM % ($items_a_column * merged) == 0 && x0 < $width) {
        $cells[(GROUP_Y * cells_across + x0 / 32) / merged] = parts[ITEM];
      }
      BARRIER;
    }
    // -- end
    // -- part: end_of_extremes(expr first, int columns, expr width, name totals, expr map,
    //    int items, expr both_items, buffer cells)
    // The extreme of a group.
    {
      double total = $first;
      for (int k = 0; k < $columns; ++k) {
        const double v = x0 + k < $width ? $totals[k] : $first;
        total = $map;
      }
      BARRIER;
      parts[ITEM] = total;
      for (int step = $items / 2; step > 0; step /= 2) {
        BARRIER;
        if (ITEM < step) parts[ITEM] = $both_items;
      }
      if (ITEM == 0) $cells[GROUP_Y * GROUPS_X + GROUP_X] = parts[0];
      BARRIER;
    }
    // -- end
  }
}

// -- part: chunks(int items, expr count, int chunk, name name_chunk, buffer cells, buffer chunks)
// Chunks of cells, one a group.
KERNEL($items) void chunks(GLOBAL const double* $cells, GLOBAL double* $chunks) {
  LOCAL double parts[$items];
  const int count = $count;
  {
    const long from = (long)GROUP_X * $chunk;
    const double total =
        $name_chunk(ARGS, $cells + from, count - from, parts);
    if (ITEM == 0) $chunks[GROUP_X] = total;
    BARRIER;
  }
}

// -- part: chunks_end(expr count, int chunk, buffer chunks, int items, expr both_chunks,
//    buffer out)
// The chunks in pairs, by one group.
KERNEL($items) void chunks_end(GLOBAL double* $chunks, GLOBAL double* $out) {
  const int chunks = ($count + $chunk - 1) / $chunk;
  {
    GLOBAL double* of_chunks = $chunks;
    for (long step = 1; step < chunks; step *= 2) {
      for (long i = ITEM * 2 * step; i + step < chunks; i += $items * 2 * step) {
        of_chunks[i] = $both_chunks;
      }
      GLOBAL_BARRIER;
    }
    if (ITEM == 0) $out[0] = of_chunks[0];
  }
}

// -- part: last_group(expr one_chunk, buffer ticket, stmt end)
// What the last group does that is done, where the cells are one chunk.
KERNEL($items) void last_group(GLOBAL uint* $ticket, GLOBAL double* $out) {
  LOCAL int is_last;
  if ($one_chunk && is_last_group($ticket, GROUPS_X * GROUPS_Y, &is_last)) {
    $end
  }
}
