// Deviations of the values under a mask, and of rectangles means, variances and covariances:
// core/kernel_spec.hpp says in which order they are summed. A work-item has eight windows, each a pixel further on than the one
// before, in registers: a value that is read is one of each of them in turn.
//   $items    of a group
//   $rule     of the border
//   $across   pixels of a group's tile
//   $left     how far the mask reaches to the left of its pixel
//   $wide     columns and rows of the mask
//   $cells    of the mask
//   $rest     but one
//   $columns  that a tile reads
//   $stride   of its values, from row to row
//   $memory   where any mask's values are
//   $start    the row of the mask that columns begin with, from its pixel
//   $pixels   of a work-item

KERNEL($items) void deviation_from_frame(GLOBAL float* $frame, GLOBAL float* $result) {
  const int tile_x = GROUP_X * $across, tile_y = GROUP_Y * $down;
  // -- part: framed(buffer frame, int across, expr frame_width)
  // Where a work-item's windows begin in the frame.
  GLOBAL const float* const own = $frame +
                                  (long)(tile_y + ITEM / $across * 8) * $frame_width + tile_x +
                                  ITEM % $across;
  // -- end
  $result[ITEM] = own[0];
}

// -- part: sums(stmt unroll)
// Takes the first eight values into as many windows, whose values are counted from `from`.
FUNCTION void into_windows(const float* v, const float* from, float* sum, float* squares) {
  $unroll
  for (int k = 0; k < 8; ++k) {
    const float apart = v[k] - from[k];
    sum[k] += apart;
    squares[k] = fma(apart, apart, squares[k]);
  }
}
// Of such sums: what the values differ by from their mean, squared and summed. part: 1 / values. NaN
// stays.
FUNCTION float rest_of_squares(const float sum, const float squares, const float part) {
  const float rest = squares - sum * part * sum;
  return rest < 0.0f ? 0.0f : rest;
}

// -- part: frame(int items, expr frame_width, int left, expr width, int up, expr height,
//    buffer frame, expr value)
// The image with all that masks read beside it, as numbers: for masks that local memory is too small
// for.
KERNEL($items) void deviation_frame(GLOBAL float* $frame) {
  const int column = GROUP_X * $items + ITEM, framed_row = GROUP_Y;
  if (column >= $frame_width) return;
  const int x = symmetric(column - $left, $width), y = symmetric(framed_row - $up, $height);
  $frame[(long)framed_row * $frame_width + column] = $value;
}

// -- part: run(name memory = IN_LOCAL, stmt unroll, stmt once)
// Takes a run of cells, one below the other, into eight windows: the sums of a run by themselves,
// which rounds less.
FUNCTION void add_run($memory const float* cell, const int stride, const int cells,
                      const float* from, float* sum, float* squares) {
  float v[16], run_sum[8], run_squares[8];
  $unroll
  for (int k = 0; k < 8; ++k) {
    v[k] = cell[k * stride];
    run_sum[k] = run_squares[k] = 0.0f;
  }
  int left = cells;
  $once
  for (; left > 8; left -= 8) {
    cell += 8 * stride;
    $unroll
    for (int s = 0; s < 8; ++s) v[8 + s] = cell[s * stride];
    $unroll
    for (int s = 0; s < 8; ++s) into_windows(v + s, from, run_sum, run_squares);
    $unroll
    for (int s = 0; s < 8; ++s) v[s] = v[8 + s];
  }
  $unroll
  for (int s = 0; s < 8; ++s) {
    if (s < left) {
      if (s > 0) v[7 + s] = cell[(7 + s) * stride];
      into_windows(v + s, from, run_sum, run_squares);
    }
  }
  $unroll
  for (int k = 0; k < 8; ++k) {
    sum[k] += run_sum[k];
    squares[k] += run_squares[k];
  }
}

// -- part: cells(int across, int down, stmt unroll, expr first_cell, expr stride, expr width,
//    expr height, expr out = $result[(long)y * $width + x], expr cells, expr rest)
// Any mask, whose columns are runs of cells. A work-item makes eight pixels, one below the other.
KERNEL($items) void deviation_of_cells(GLOBAL const int* $runs, GLOBAL float* $frame,
                                       GLOBAL float* $result) {
  const int tile_x = GROUP_X * $across, tile_y = GROUP_Y * $down;
  // -- part: tile(int values, stmt unroll_some, int items, int left, expr stride, expr width,
  //    int up, expr height, expr value, int across)
  // What the group's windows read, in local memory.
  LOCAL float tile[$values];
  $unroll_some
  for (int i = ITEM; i < $values; i += $items) {
    const int x = symmetric(tile_x - $left + i % $stride, $width);
    const int y = symmetric(tile_y - $up + i / $stride, $height);
    tile[i] = $value;
  }
  BARRIER;
  IN_LOCAL const float* const own = tile + ITEM / $across * 8 * $stride + ITEM % $across;
  // -- end
  float from[8], sum[8], squares[8];
  $unroll
  for (int k = 0; k < 8; ++k) {
    from[k] = own[$first_cell + k * $stride];
    sum[k] = squares[k] = 0.0f;
  }
  // -- part: table(buffer runs, stmt once, int run_count, expr stride)
  // The runs of a mask of many, the next of which is on its way while one is summed.
  int at_row = $runs[0], at_column = $runs[1], cells = $runs[2];
  $once
  for (int r = 1; r <= $run_count; ++r) {
    const int next_row = $runs[3 * r], next_column = $runs[3 * r + 1], next = $runs[3 * r + 2];
    add_run(own + at_row * $stride + at_column, $stride, cells, from, sum, squares);
    at_row = next_row;
    at_column = next_column;
    cells = next;
  }
  // -- end
  const int x = tile_x + ITEM % $across, top = tile_y + ITEM / $across * 8;
  if (x >= $width) return;
  $unroll
  for (int k = 0; k < 8; ++k) {
    const int y = top + k;
    if (y < $height) {
      $out = sqrt(rest_of_squares(sum[k], squares[k], 1.0f / $cells) * (1.0f / $rest));
    }
  }
}

// -- part: nested(int values, int across, int down, int columns, int start, int left, expr width,
//    stmt unroll, expr height, expr value, int pixels, stmt once, int round_count, buffer rounds,
//    expr stride, int items, expr cells, expr out, expr rest)
// A mask whose columns lie within one another: core/deviation.hpp. A work-item makes eight values of
// a column, in local memory, round by round, and takes those of each round into its pixels.
KERNEL($items) void deviation_of_nested_columns(GLOBAL const int* $rounds, GLOBAL float* $result) {
  LOCAL float means[$values], within[$values];
  const int tile_x = GROUP_X * $across, tile_y = GROUP_Y * $down;
  const int own_column = ITEM % $columns, own_row = ITEM / $columns * 8;
  const int start = tile_y + own_row + $start;
  float from[8], sum[8], squares[8], below[8], above[8];
  {
    const int x = symmetric(tile_x - $left + own_column, $width);
    $unroll
    for (int k = 0; k < 8; ++k) {
      const int y = symmetric(start + k, $height);
      from[k] = below[k] = above[k] = $value;
      sum[k] = squares[k] = 0.0f;
    }
  }
  float first[$pixels], inside[$pixels], weighted[$pixels], between[$pixels];
  $unroll
  for (int k = 0; k < $pixels; ++k) first[k] = inside[k] = weighted[k] = between[k] = 0.0f;
  int bottom = 0, top = 0;
  $once
  for (int r = 0; r < $round_count; ++r) {
    const int begin = $rounds[4 * r + 2], end = $rounds[4 * r + 3];
    const int last = $rounds[4 * r + 1], first_row = $rounds[4 * r];
    const float cells = (float)(last - first_row + 1);
    if (own_row < $down) {
      const int x = symmetric(tile_x - $left + own_column, $width);
      $once
      for (; bottom < last; ++bottom) {
        $unroll
        for (int k = 0; k < 7; ++k) below[k] = below[k + 1];
        const int y = symmetric(start + 8 + bottom, $height);
        below[7] = $value;
        into_windows(below, from, sum, squares);
      }
      $once
      for (; top > first_row; --top) {
        $unroll
        for (int k = 7; k > 0; --k) above[k] = above[k - 1];
        const int y = symmetric(start - 1 + top, $height);
        above[0] = $value;
        into_windows(above, from, sum, squares);
      }
      const float part = 1.0f / cells;
      $unroll
      for (int k = 0; k < 8; ++k) {
        const int place = (own_row + k) * $stride + own_column;
        means[place] = fma(sum[k], part, from[k]);
        within[place] = rest_of_squares(sum[k], squares[k], part);
      }
    }
    BARRIER;
    $once
    for (int c = begin; c < end; ++c) {
      const int column = $rounds[4 * $round_count + c];
      $unroll
      for (int k = 0; k < $pixels; ++k) {
        const int pixel = ITEM + k * $items;
        const int place = pixel / $across * $stride + pixel % $across + column;
        const float mean = means[place];
        if (c == 0) first[k] = mean;
        const float apart = mean - first[k], all_apart = cells * apart;
        inside[k] += within[place];
        weighted[k] += all_apart;
        between[k] = fma(all_apart, apart, between[k]);
      }
    }
    BARRIER;
  }
  $unroll
  for (int k = 0; k < $pixels; ++k) {
    const int pixel = ITEM + k * $items;
    const int x = tile_x + pixel % $across, y = tile_y + pixel / $across;
    if (x < $width && y < $height) {
      const float apart = rest_of_squares(weighted[k], between[k], 1.0f / $cells);
      $out = sqrt((inside[k] + apart) * (1.0f / $rest));
    }
  }
}

// -- part: passes(int values, int across, int down, stmt once, int columns, int items, int left,
//    name rule = symmetric, expr width, int up, int tall, expr height, stmt mirrored, stmt unroll,
//    expr stride, expr down_cells, int wide, expr across_cells, expr made,
//    expr out_row = $result + (long)y * $width, stmt store_eight)
// A rectangle: the means and the squared deviations of its columns in local memory, and of these
// along rows. A work-item makes eight values of a column, and eight pixels of a row. A value can ask
// whether its place is on the image: then at_x is x and `at` is y.
KERNEL($items) void deviation_by_passes(GLOBAL float* $result) {
  LOCAL float means[$values], within[$values];
  const int tile_x = GROUP_X * $across, tile_y = GROUP_Y * $down;
  $once
  for (int task = ITEM; task < $columns * ($down / 8); task += $items) {
    const int column = task % $columns, first = task / $columns * 8;
    const int at_x = tile_x - $left + column, x = $rule(at_x, $width);
    const int top = tile_y - $up + first;
    float v[16], from[8], sum[8], squares[8];
    if (top >= 0 && top + $tall + 7 <= $height) {
      // -- part: column(stmt unroll, expr row, expr value, int tall, stmt once)
      // What eight windows of a column sum.
      $unroll
      for (int k = 0; k < 8; ++k) {
        const int at = top + k, y = $row;
        from[k] = v[k] = $value;
        sum[k] = squares[k] = 0.0f;
      }
      int left = $tall, below = top + 8;
      $once
      for (; left > 8; left -= 8) {
        $unroll
        for (int s = 0; s < 8; ++s) {
          const int at = below + s, y = $row;
          v[8 + s] = $value;
        }
        below += 8;
        $unroll
        for (int s = 0; s < 8; ++s) into_windows(v + s, from, sum, squares);
        $unroll
        for (int s = 0; s < 8; ++s) v[s] = v[8 + s];
      }
      $unroll
      for (int s = 1; s <= ($tall - 1) % 8; ++s) {
        const int at = below + s - 1, y = $row;
        v[7 + s] = $value;
      }
      $unroll
      for (int s = 0; s <= ($tall - 1) % 8; ++s) into_windows(v + s, from, sum, squares);
      // -- end
    } else {
      $mirrored
    }
    $unroll
    for (int k = 0; k < 8; ++k) {
      const int place = (first + k) * $stride + column;
      means[place] = fma(sum[k], 1.0f / $down_cells, from[k]);
      within[place] = rest_of_squares(sum[k], squares[k], 1.0f / $down_cells);
    }
  }
  BARRIER;
  $once
  for (int task = ITEM; task < $across / 8 * $down; task += $items) {
    const int row_of_tile = task % $down, first = task / $down * 8;
    const int x = tile_x + first, y = tile_y + row_of_tile;
    if (x >= $width || y >= $height) continue;
    IN_LOCAL const float* mean = means + row_of_tile * $stride + first;
    IN_LOCAL const float* rest = within + row_of_tile * $stride + first;
    float v[16], w[16], from[8], sum[8], squares[8], inside[8];
    $unroll
    for (int k = 0; k < 8; ++k) {
      from[k] = v[k] = mean[k];
      w[k] = rest[k];
      sum[k] = squares[k] = inside[k] = 0.0f;
    }
    int left = $wide;
    $once
    for (; left > 8; left -= 8) {
      mean += 8;
      rest += 8;
      $unroll
      for (int s = 0; s < 8; ++s) {
        v[8 + s] = mean[s];
        w[8 + s] = rest[s];
      }
      $unroll
      for (int s = 0; s < 8; ++s) {
        into_windows(v + s, from, sum, squares);
        $unroll
        for (int k = 0; k < 8; ++k) inside[k] += w[s + k];
      }
      $unroll
      for (int s = 0; s < 8; ++s) {
        v[s] = v[8 + s];
        w[s] = w[8 + s];
      }
    }
    $unroll
    for (int s = 0; s <= ($wide - 1) % 8; ++s) {
      if (s > 0) {
        v[7 + s] = mean[7 + s];
        w[7 + s] = rest[7 + s];
      }
      into_windows(v + s, from, sum, squares);
      $unroll
      for (int k = 0; k < 8; ++k) inside[k] += w[s + k];
    }
    float made[8];
    $unroll
    for (int k = 0; k < 8; ++k) {
      const float between = rest_of_squares(sum[k], squares[k], 1.0f / $across_cells);
      made[k] = $made;
    }
    GLOBAL float* const to = $out_row + x;
    if (x + 8 <= $width) {
      $store_eight
    } else {
      for (int k = 0; k < 8; ++k) {
        if (x + k < $width) to[k] = made[k];
      }
    }
  }
}

// -- part: pair_sums(stmt unroll)
// Adds a pixel of each image to the sums of eight windows; each window counts its values from its
// own first ones, `from` and `second_from`.
FUNCTION void into_pairs(const float* v, const float* w, const float* from,
                         const float* second_from, float* sum, float* second_sum,
                         float* products) {
  $unroll
  for (int k = 0; k < 8; ++k) {
    const float apart = v[k] - from[k], second_apart = w[k] - second_from[k];
    sum[k] += apart;
    second_sum[k] += second_apart;
    products[k] = fma(apart, second_apart, products[k]);
  }
}

// -- part: pairs(int values, int across, int down, stmt once, int columns, int items, int left,
//    name rule, expr width, int up, stmt unroll, expr height, expr value, expr second_value,
//    int tall, expr stride, expr down_cells, int wide, expr out_row, expr across_cells, expr cells)
// Covariances of two images under a rectangle: the means of its columns and the products of what
// values differ by from these in local memory, and of these along rows. A work-item makes eight
// values of a column, and eight pixels of a row.
KERNEL($items) void covariance_by_passes(GLOBAL float* $result) {
  LOCAL float means[$values], second_means[$values], within[$values];
  const int tile_x = GROUP_X * $across, tile_y = GROUP_Y * $down;
  $once
  for (int task = ITEM; task < $columns * ($down / 8); task += $items) {
    const int column = task % $columns, first = task / $columns * 8;
    const int at_x = tile_x - $left + column, x = $rule(at_x, $width);
    const int top = tile_y - $up + first;
    float v[8], w[8], from[8], second_from[8], sum[8], second_sum[8], products[8];
    $unroll
    for (int k = 0; k < 8; ++k) {
      const int at = top + k, y = $rule(at, $height);
      from[k] = v[k] = $value;
      second_from[k] = w[k] = $second_value;
      sum[k] = second_sum[k] = products[k] = 0.0f;
    }
    $once
    for (int i = 0; i < $tall; ++i) {
      into_pairs(v, w, from, second_from, sum, second_sum, products);
      $unroll
      for (int k = 0; k < 7; ++k) {
        v[k] = v[k + 1];
        w[k] = w[k + 1];
      }
      const int at = top + 8 + i, y = $rule(at, $height);
      v[7] = $value;
      w[7] = $second_value;
    }
    $unroll
    for (int k = 0; k < 8; ++k) {
      const int place = (first + k) * $stride + column;
      const float part = 1.0f / $down_cells;
      means[place] = fma(sum[k], part, from[k]);
      second_means[place] = fma(second_sum[k], part, second_from[k]);
      within[place] = products[k] - sum[k] * part * second_sum[k];
    }
  }
  BARRIER;
  $once
  for (int task = ITEM; task < $across / 8 * $down; task += $items) {
    const int row_of_tile = task % $down, first = task / $down * 8;
    const int x = tile_x + first, y = tile_y + row_of_tile;
    if (x >= $width || y >= $height) continue;
    const int begin = row_of_tile * $stride + first;
    float v[8], w[8], u[8], from[8], second_from[8], sum[8], second_sum[8], products[8], inside[8];
    $unroll
    for (int k = 0; k < 8; ++k) {
      from[k] = v[k] = means[begin + k];
      second_from[k] = w[k] = second_means[begin + k];
      u[k] = within[begin + k];
      sum[k] = second_sum[k] = products[k] = inside[k] = 0.0f;
    }
    $once
    for (int i = 0; i < $wide; ++i) {
      into_pairs(v, w, from, second_from, sum, second_sum, products);
      $unroll
      for (int k = 0; k < 8; ++k) inside[k] += u[k];
      $unroll
      for (int k = 0; k < 7; ++k) {
        v[k] = v[k + 1];
        w[k] = w[k + 1];
        u[k] = u[k + 1];
      }
      if (i + 1 < $wide) {
        const int next = begin + 8 + i;
        v[7] = means[next];
        w[7] = second_means[next];
        u[7] = within[next];
      }
    }
    GLOBAL float* const to = $out_row + x;
    for (int k = 0; k < 8; ++k) {
      const float part = 1.0f / $across_cells;
      const float between = products[k] - sum[k] * part * second_sum[k];
      if (x + k < $width) to[k] = fma($down_cells, between, inside[k]) * (1.0f / $cells);
    }
  }
}
