// Functions that make one pixel of a node, and the loops over a neighbourhood that they share.
//   $has_value     whether what lies outside the image has one
//   $wide          whether places may lie to the left and right of the image
//   $tall          and above and below
//   $values        cells
//   $tile_columns  a group's pixels, 32 side by side, and those around them
//   $down          rows of the group
//   $framed        whether $source has pixels outside the image
//   $apart_x       elements from a column to the next
//   $apart_y       and from a row to the next

FUNCTION float cells(const int x, const int y, const int* runs, const float* weights) {
  float sum = 0.0f;
  {
    // -- part: rectangle(stmt each_loop, int cell_rows, int cell_columns, expr first_dx,
    //    expr first_dy, stmt each_cell)
    // All cells of a rectangle.
    $each_loop
    for (int cell_y = 0, k = 0; cell_y < $cell_rows; ++cell_y) {
      $each_loop
      for (int cell_x = 0; cell_x < $cell_columns; ++cell_x, ++k) {
        const int dx = $first_dx, dy = $first_dy;
        $each_cell
      }
    }
    // -- end
  }
  {
    // -- part: table_of_runs(int runs, expr table = runs, stmt each_cell)
    // Runs of a mask, from a table: dx of the first cell, dx after the last, dy.
    for (int run = 0, k = 0; run < $runs; ++run) {
      const int dy = $table[3 * run + 2], end = $table[3 * run + 1];
      for (int dx = $table[3 * run]; dx < end; ++dx, ++k) {
        $each_cell
      }
    }
    // -- end
  }
  {
    // -- part: runs(stmt each_run)
    // Runs of a mask.
    int k = 0;
    $each_run
    // -- end
    // -- part: run(stmt each_loop, int dx, int dx_end, int dy, stmt each_cell)
    // A run.
    $each_loop
    for (int dx = $dx; dx < $dx_end; ++dx, ++k) {
      const int dy = $dy;
      $each_cell
    }
    // -- end
  }
  return sum;
}

KERNEL(128) void group_tile(GLOBAL const uchar* image, GLOBAL uchar* result) {
  LOCAL uchar tile_array[38 * 10];
  // -- part: group_tile(int tile_rows, int down, int tile_columns, int halo_x, int halo_y,
  //    int framed, expr width, expr height, expr array = tile_array, int apart_x, int apart_y,
  //    expr source)
  // The pixels that the group reads, in local memory. Those outside the image are never read, but
  // where they are made as well.
  for (int i = ITEM / 32; i < $tile_rows; i += $down) {
    for (int k = ITEM % 32; k < $tile_columns; k += 32) {
      const int x = GROUP_X * 32 - $halo_x + k, y = GROUP_Y * $down - $halo_y + i;
      if ($framed || (x >= 0 && x < $width && y >= 0 && y < $height)) {
        $array[k * $apart_x + i * $apart_y] = $source;
      }
    }
  }
  BARRIER;
  // -- end
  result[ITEM] = tile_array[ITEM];
}

// -- part: border(type type, name name, bool has_value, expr is_outside, expr outside, bool wide,
//    name rule, expr width, bool tall, expr height, expr value)
// A pixel of the image, by the rule for places outside it.
FUNCTION $type $name(PARAMS, int x, int y) {
#if $has_value
  if ($is_outside) return $outside;
#else
#if $wide
  x = $rule(x, $width);
#endif
#if $tall
  y = $rule(y, $height);
#endif
#endif
  return $value;
}

// -- part: ordered(type type, name name_ordered, int values, stmt cell_values, stmt network,
//    expr ranked)
// The window's cells, ordered by a network as far as the result needs it.
FUNCTION $type $name_ordered(PARAMS, const int x, const int y) {
  int s[$values];
  $cell_values
  $network
  return ($type)$ranked;
}

// -- part: place(name name_place, int top_bit, stmt cells)
// The smallest key that more than `place` cells don't exceed, bit by bit.
FUNCTION uint $name_place(PARAMS, const int x, const int y, const int place) {
  uint found = 0;
  for (int bit = $top_bit; bit >= 0; --bit) {
    const uint below = found | ((1u << bit) - 1u);
    int count = 0;
    $cells
    if (count <= place) found |= 1u << bit;
  }
  return found;
}

// -- part: tile_pixel(type type, name tile, expr array = ((IN_LOCAL const uchar*)0), int halo_x,
//    int apart_x, int down, int halo_y, int apart_y)
// A pixel of the group's tile.
FUNCTION $type $tile(PARAMS, const int x, const int y) {
  return $array[(x - (GROUP_X * 32 - $halo_x)) * $apart_x +
                (y - (GROUP_Y * $down - $halo_y)) * $apart_y];
}
