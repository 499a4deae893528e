// Functions that make one pixel of a node, and the loops over a neighbourhood that they share.
#define $width 900
#define $height 600
#define $type uchar
#define $name image_at
#define $name_place key_at
#define $name_ordered ordered_at
#define $each_run for (int dx = 0; dx < 2; ++dx, ++k) sum += weights[k];
#define $value (uchar)(x + y)
#define $has_value 1      // whether what lies outside the image has one
#define $is_outside x < 0 || x >= $width
#define $outside 0
#define $wide 1           // whether places may lie to the left and right of the image
#define $tall 1           // and above and below
#define $rule replicate
#define $values 2         // cells
#define $cell_values s[0] = x; s[1] = y;
#define $network order_int(&s[0], &s[1]);
#define $ranked s[1]
#define $top_bit 7
#define $cells for (int dx = 0, k = 0; dx < 3; ++dx, ++k) count += (uint)dx <= below ? 1 : 0;
#define $each_cell sum += weights[k] * (float)(x + dx + y + dy);
#define $each_loop
#define $cell_columns 3
#define $cell_rows 3
#define $first_dx cell_x - 1
#define $first_dy cell_y - 1
#define $runs 2
#define $table runs
#define $dx -1
#define $dx_end 2
#define $dy 0
#define $tile image_tile
#define $tile_columns 38  // a group's pixels, 32 side by side, and those around them
#define $tile_rows 10
#define $array tile_array
#define $source image[y * $width + x]
#define $halo_x 3
#define $halo_y 3
#define $down 4           // rows of the group
#define $framed 0         // whether $source has pixels outside the image
#define $apart_x 1        // elements from a column to the next
#define $apart_y 38       // and from a row to the next

FUNCTION float cells(const int x, const int y, const int* runs, const float* weights) {
  float sum = 0.0f;
  {
    // -- part: rectangle
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
    // -- part: table_of_runs
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
    // -- part: runs
    // Runs of a mask.
    int k = 0;
    $each_run
    // -- end
    // -- part: run
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
  // -- part: group_tile
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

// -- part: border
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

// -- part: ordered
// The window's cells, ordered by a network as far as the result needs it.
FUNCTION $type $name_ordered(PARAMS, const int x, const int y) {
  int s[$values];
  $cell_values
  $network
  return ($type)$ranked;
}

// -- part: place
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

// -- part: tile_pixel
// A pixel of the group's tile.
#undef $array
#define $array ((IN_LOCAL const uchar*)0)
FUNCTION $type $tile(PARAMS, const int x, const int y) {
  return $array[(x - (GROUP_X * 32 - $halo_x)) * $apart_x +
                (y - (GROUP_Y * $down - $halo_y)) * $apart_y];
}
