// A resize. By tiles: a group sums the columns under a tile of the result into local memory, then
// those sums along the rows, 4x4 values a work-item. By pixels, where no tile fits: the sums down
// the columns are stored. And the nearest pixels, which are only moved.
//   $items        of a group
//   $width        of the image
//   $taps         of an output
//   $quads_x      fours of outputs side by side, or one above another
//   $copies       whether each output is one of the inputs
//   $inputs       of the direction
//   $place        of an input
//   $before       items of the other direction
//   $span         inputs that a four reaches
//   $max_columns  of sums
//   $across       quads of a tile
//   $mask         how columns lie: column i at (i & $mask) * $step + (i >> $bits)
//   $offsets      of the first inputs of a four
//   $rows         that each moves
//   $count        elements of a row

// Alone: a pixel from its taps.
FUNCTION float sum_of_taps(const int out_x, GLOBAL const int* $first,
                           GLOBAL const float* $weights) {
  // -- part: sum_over(expr taps, buffer first, name out = out_x, name place = x, expr inputs,
  //    buffer weights, expr input)
  // The sum over the taps of an output.
  const int taps = $taps, begin = $first[$out];
  float sum = 0.0f;
  for (int t = 0; t < taps; ++t) {
    const int $place = symmetric(begin + t, $inputs);
    sum = fma($weights[(long)$out * taps + t], $input, sum);
  }
  // -- end
  return sum;
}

// -- part: quads(int items, expr before, expr quads, expr span, expr copies, expr copied,
//    expr begin, buffer first, buffer weights, expr taps, expr weight)
// First inputs and weights, [input][quad][4], of the quads of one direction.
KERNEL($items) void quads(GLOBAL int* $first, GLOBAL float* $weights) {
  {
    const int i = GROUP_X * $items + ITEM - $before;
    if (i >= 0 && i < $quads * $span) {
      const int u = i / $quads, quad = i - u * $quads;
      int start = 0;
      for (int j = 0; j < 4; ++j) {
        const int k = quad * 4 + j;
        const int first = $copies != 0 ? (int)$copied : (int)$begin;
        if (j == 0) start = first;
        const int t = u - (first - start);
        if (u == 0) $first[k] = first;
        $weights[(long)i * 4 + j] =
            t < 0 || t >= $taps ? 0.0f : $copies != 0 ? 1.0f : (float)$weight;
      }
    }
  }
}

// -- part: tile(int max_columns, expr across, int row_quads, expr quads_x, expr width, expr height,
//    buffer first_x, expr taps_x, int items, expr quads_y, buffer first_y, expr taps_y,
//    stmt offsets, stmt each, type pixel, buffer plane, buffer weights_y, expr stride,
//    stmt loop_of_loads, stmt load, stmt add_y, stmt once, expr mask, expr step, expr bits,
//    buffer weights_x, stmt loop, stmt add_x, expr to_height, expr out_row, stmt store)
// The tiles of the result.
KERNEL($items) void tile(GLOBAL const $pixel* $plane, GLOBAL const int* $first_x,
                         GLOBAL const int* $first_y, GLOBAL const float* $weights_x,
                         GLOBAL const float* $weights_y, GLOBAL $pixel* $result) {
  LOCAL float4 sums[$max_columns * 5];
  const int quad0 = GROUP_X * $across, top = GROUP_Y * $row_quads;
  const int quads = smaller($across, $quads_x - quad0);
  const int width = $width, height = $height;
  // The columns that the tile reaches, and those that mirrors reach.
  const int begin = $first_x[4 * quad0], end = $first_x[4 * (quad0 + quads) - 1] + $taps_x;
  const int low = begin < 0 ? 0 : end > width ? larger(0, smaller(begin, 2 * width - end)) : begin;
  const int high = end > width ? width : begin < 0 ? smaller(width, larger(end, -begin)) : end;
  const int left = low / 4 * 4;
  const int words = (high - left + 3) / 4;
  // Quotients of small whole numbers by multiplication: a half keeps them off the next.
  const float part = 1.0f / (float)words;
  for (int i = ITEM; i < words * $row_quads; i += $items) {
    const int q = (int)(((float)i + 0.5f) * part), column = (i - q * words) * 4;
    const int quad = smaller(top + q, $quads_y - 1);
    GLOBAL const int* const first = $first_y + 4 * quad;
    const int start = first[0], count = first[3] - start + $taps_y;
    $offsets
    float sum[16];
    $each
    for (int k = 0; k < 16; ++k) sum[k] = 0.0f;
    GLOBAL const $pixel* const from = $plane + left + column;
    GLOBAL const float4* weights = (GLOBAL const float4*)$weights_y + quad;
    // Without a test in it the loop has several loads under way.
    if (start >= 0 && start + count <= height) {
      GLOBAL const $pixel* line = from + start * $stride;
      $loop_of_loads
      for (int u = 0; u < count; ++u, line += $stride, weights += $quads_y) {
        const float4 weight = *weights;
        float v[4];
        $load
        $add_y
      }
    } else {
      $once
      for (int u = 0; u < count; ++u, weights += $quads_y) {
        GLOBAL const $pixel* const line = from + symmetric(start + u, height) * $stride;
        const float4 weight = *weights;
        float v[4];
        $load
        $add_y
      }
    }
    $each
    for (int k = 0; k < 4; ++k) {
      const int c = column + k;
      float4 four;
      four.x = sum[k];
      four.y = sum[4 + k];
      four.z = sum[8 + k];
      four.w = sum[12 + k];
      sums[((c & $mask) * $step + (c >> $bits)) * 5 + q] = four;
    }
  }
  BARRIER;
  const float quad_part = 1.0f / (float)quads;
  for (int i = ITEM; i < quads * $row_quads; i += $items) {
    const int q = (int)(((float)i + 0.5f) * quad_part), quad = quad0 + i - q * quads;
    GLOBAL const int* const first = $first_x + 4 * quad;
    const int start = first[0], count = first[3] - start + $taps_x;
    $offsets
    float sum[16];
    $each
    for (int k = 0; k < 16; ++k) sum[k] = 0.0f;
    GLOBAL const float4* weights = (GLOBAL const float4*)$weights_x + quad;
    if (start >= 0 && start + count <= width) {
      int column = start - left;
      $loop
      for (int u = 0; u < count; ++u, ++column, weights += $quads_x) {
        const float4 four = sums[((column & $mask) * $step + (column >> $bits)) * 5 + q];
        const float4 weight = *weights;
        const float v[4] = {four.x, four.y, four.z, four.w};
        $add_x
      }
    } else {
      $once
      for (int u = 0; u < count; ++u, weights += $quads_x) {
        const int column = symmetric(start + u, width) - left;
        const float4 four = sums[((column & $mask) * $step + (column >> $bits)) * 5 + q];
        const float4 weight = *weights;
        const float v[4] = {four.x, four.y, four.z, four.w};
        $add_x
      }
    }
    $each
    for (int r = 0; r < 4; ++r) {
      const int y = 4 * (top + q) + r;
      if (y < $to_height) {
        GLOBAL $pixel* const row = $out_row;
        $store
      }
    }
  }
}

// -- part: sums(int items, expr outputs, expr taps, expr weight, buffer sums)
// The sum of each output's weights, an output a work-item.
KERNEL($items) void sums(GLOBAL double* $sums) {
  const int k = GROUP_X * $items + ITEM;
  if (k < $outputs) {
    double sum = 0.0;
    for (int t = 0; t < $taps; ++t) sum += (double)$weight;
    $sums[k] = sum;
  }
}

// -- part: taps(int items, expr taps, expr to, expr copies, buffer first, expr copied,
//    buffer weights, expr begin, expr weight)
// First inputs and weights of one direction, a weight a work-item.
KERNEL($items) void taps(GLOBAL int* $first, GLOBAL float* $weights) {
  const int i = GROUP_X * $items + ITEM;
  const int k = i / $taps, t = i - k * $taps;
  if (k >= $to) return;
  if ($copies != 0) {
    $first[k] = (int)$copied;
    $weights[i] = 1.0f;
  } else {
    if (t == 0) $first[k] = (int)$begin;
    $weights[i] = (float)$weight;
  }
}

// -- part: places(int items, expr to_x, buffer first_x, expr copied_x, expr to_y, buffer first_y,
//    expr copied_y)
// The nearest column of each column, and row of each row.
KERNEL($items) void places(GLOBAL int* $first_x, GLOBAL int* $first_y) {
  const int i = GROUP_X * $items + ITEM;
  if (i < $to_x) {
    const int k = i;
    $first_x[k] = (int)$copied_x;
  } else if (i - $to_x < $to_y) {
    const int k = i - $to_x;
    $first_y[k] = (int)$copied_y;
  }
}

// -- part: nearest(expr across, int count, int down, int rows, expr to_x, expr to_y, stmt each,
//    buffer first_x, buffer first_y, type pixel, expr in_row, expr out_row, stmt store)
// Moves blocks of some elements of some rows.
KERNEL($items) void nearest(GLOBAL const int* $first_x, GLOBAL const int* $first_y,
                            GLOBAL const $pixel* $image, GLOBAL $pixel* $result) {
  const int e0 = (GROUP_X * $across + ITEM % $across) * $count;
  const int y0 = (GROUP_Y * $down + ITEM / $across) * $rows;
  if (e0 >= $to_x || y0 >= $to_y) return;
  int place[$count];
  $each
  for (int i = 0; i < $count; ++i) {
    place[i] = $first_x[smaller(e0 + i, $to_x - 1)];
  }
  $each
  for (int r = 0; r < $rows; ++r) {
    // The last row again where there are no more.
    const int y = smaller(y0 + r, $to_y - 1), from_y = $first_y[y];
    GLOBAL const $pixel* const from = $in_row;
    GLOBAL $pixel* const row = $out_row;
    $pixel v[$count];
    $each
    for (int i = 0; i < $count; ++i) v[i] = from[place[i]];
    $store
  }
}
