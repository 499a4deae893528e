// Blocks of pixels: a work-item makes several pixels side by side and below each other, from
// windows in registers, or from pixels that its group keeps in local memory.
#define $pixel uchar      // of the image
#define $width 900
#define $height 600
#define $stride 1024
#define $px 8             // pixels of a block, or of a vector that points make
#define $py 4
#define $items 256        // work-items of a group
#define $unroll
#define $rule replicate   // of the border
#define $row $image + (long)y * $stride
#define $word uint        // of a tile in local memory
#define $element uchar    // a pixel of it
#define $type float
#define $vector float4    // four of them
#define $name tile_a
#define $tables
#define $left GROUP_X * 256 - 4
#define $top GROUP_Y * 32 - 1
#define $up 1
#define $wide 264         // pixels of a tile with its halo
#define $rows 34
#define $count 2244
#define $vectors 1122     // that points make
#define $across 66        // of them in a row
#define $times 9          // turns in which the group goes over them
#define $make uchar made[8] = {(uchar)y0, (uchar)whole};
#define $keep tile_a[vector * 2] = FIRST_BYTES(made);
#define $keep_edge tile_a[vector * 2] = FIRST_BYTES(made) + (uint)(row - y0);
#define $beside 68        // pixels of the halo's columns
#define $reach 2
#define $reach_left 1
#define $outside row[$rule(x, $width)]
#define $from x_load      // the first column of the image that the block reads
#define $bytes 1          // of a pixel
#define $loaded 3         // words
#define $constant 1       // whether what lies outside the image is one
#define $inside_rows y0 >= 0 && y0 + $py <= $height
#define $load $words[r * $words_a_row] = SHIFTED_WORD(line[0], line[1], (first & 3) * 8);
#define $column replicate(x, $width)
#define $moved_row $image + (long)(y0 + r) * $stride
#define $per_word 4
#define $moved_pixel (uint)line[place]
#define $bits 8
#define $words words_a
#define $words_a_row 2
#define $fill 0u          // what lies outside, as a word
#define $tile_count 2448
#define $tile_across 36
#define $group_x 256
#define $group_y 64
#define $halo 4
#define $apart 32         // between rows that share words
#define $inside $image + (long)(top + row) * $stride
#define $inside_apart $image + (long)(top + row + $apart) * $stride
#define $edge word_a($image, left + 4 * vector, top + row)
#define $edge_apart word_a($image, left + 4 * vector, top + row + $apart)
#define $sums 32
#define $nothing 0u
#define $tall 6
#define $line 16
#define $half 4
#define $step sums_$own[0] += line[row];
#define $window_count 60
#define $window_rows 6
#define $window_wide 10
#define $window_row $image + (long)(y0 - 1) * $stride
#define $first 1          // the block's first pixel in a row of its window
#define $margin 0         // pixels of that row that are not read
#define $window_edge (float)(x0 + i + y0 + r)
#define $reach_wide 10
#define $load_row raw_$plane[r * 10] = row_of_raw_$plane[0];
#define $load_columns w_$own[r * $px] = row[0];
#define $column_count 48
#define $row_sums rows_$own[r * $px] = w_$own[r];
#define $border_rows 1    // whether the row pass of rows outside the image is a constant
#define $below 5
#define $outside_value 0.0f
#define $tile_vectors 1360
#define $fill_inside
#define $fill_edge
#define $any_beside 1     // whether vectors are left at the right of the first 32
#define $beside_turns 1
#define $left_over 4
#define $down 8
#define $four float4 v; v.x = v.y = v.z = v.w = (float)(left + top);
#define $from_row $image + (long)(top + row) * $stride
#define $load_four from[0] = ($from_row)[0];
#define $edge_x 0.0f
#define $edge_y 0.0f
#define $edge_z 0.0f
#define $edge_w 0.0f
#define $line_vectors 4
#define $step_of_sums sums[0] += line[row];
#define $goes_on 1        // whether a group makes one block after the other
#define $first_row (block * 8 + ITEM / 32) * $py
#define $group_rows 32
#define $to_height 600    // of the result
#define $loads_ahead 1
#define $load_arrays uint ahead[2];
#define $loads ahead[0] = ((GLOBAL const uint*)($image + (long)y0 * $stride + x_load))[0];
#define $block ahead[1] = ahead[0] + (uint)whole;
#define $first_tables
#define $interior_left 4
#define $interior_right 12
#define $interior_up 1
#define $interior_down 5
#define $table table_a
#define $codes 256
#define $table_turns 1
#define $entry (float)code

FUNCTION uint word_a(GLOBAL const uchar* $image, const int x, const int y) {
  // -- part: word
  // Four bytes of a row from x on; those outside the image are the border's.
  const uint inside = y < 0 || y >= $height ? 0u : bytes_inside(x, $width);
  const int from = smaller(larger(x, 0), ($width - 1) / 4 * 4);
  return (*(GLOBAL const uint*)($row + from) & inside) | ($fill & ~inside);
  // -- end
}

KERNEL(256) void points(GLOBAL const uchar* $image) {
  // -- part: points
  // Vectors of the tile go over the group's work-items; in a group that lies inside the image with
  // all of its tile none of them is tested. Columns outside the image are then copied from inside,
  // by the border's rule, or get its value, and so do rows.
  LOCAL $word $name[$count];
  $tables
  {
    const int left = $left, top = $top;
    if (left >= 0 && left + $wide <= $width && top >= 0 && top + $rows <= $height) {
      $unroll
      for (int i = 0; i < $times; ++i) {
        const int vector = i * $items + ITEM;
        if (vector < $vectors) {
          const int x0 = left + vector % $across * $px, y0 = top + vector / $across, whole = 1;
          $make
          $keep
        }
      }
    } else {
      for (int vector = ITEM; vector < $vectors; vector += $items) {
        const int x0 = left + vector % $across * $px, row = top + vector / $across;
        const int y0 = $rule(row, $height), whole = x0 + $px <= $width;
        if (x0 >= 0 && x0 < $width) {
          $make
          $keep_edge
        }
      }
    }
    BARRIER;
    if (left < 0 || left + $wide > $width) {
      IN_LOCAL $element* const pixels = (IN_LOCAL $element*)$name;
      for (int k = ITEM; k < $beside; k += $items) {
        const int j = k % $reach, x = j < $reach_left ? j - $reach_left : $width + j - $reach_left;
        IN_LOCAL $element* const row = pixels + k / $reach * $wide - left;
        if (x >= left && x < left + $wide) row[x] = $outside;
      }
    }
  }
  BARRIER;
  // -- end
}

KERNEL(256) void moved(GLOBAL const uchar* $image) {
  const int x_load = GROUP_X * 32 * $px + ITEM, y0 = GROUP_Y * $py;
  uint $words[$py * $words_a_row];
  // -- part: moved
  // Rows of the image from any byte on. A block that reaches outside is read pixel by pixel, from
  // columns that are found once for all its rows.
  const int from = $from;
  const int first = from * $bytes, word = first >> 2;
  const int words = (int)($stride * $bytes / 4);
#if $constant
  if (from >= 0 && from + $px <= $width && word + $loaded <= words &&
      $inside_rows) {
#else
  if (from >= 0 && from + $px <= $width && word + $loaded <= words) {
#endif
    $unroll
    for (int r = 0; r < $py; ++r) {
      GLOBAL const uint* const line = (GLOBAL const uint*)($moved_row) + word;
      $load
    }
  } else {
    int columns[$px];
    $unroll
    for (int i = 0; i < $px; ++i) {
      const int x = from + i;
      columns[i] = $column;
    }
    $unroll
    for (int r = 0; r < $py; ++r) {
      GLOBAL const $pixel* const line = $moved_row;
      $unroll
      for (int k = 0; k < $words_a_row; ++k) {
        uint packed = 0;
        $unroll
        for (int j = 0; j < $per_word; ++j) {
          const int place = columns[k * $per_word + j];
          packed |= $moved_pixel << ($bits * j);
        }
        $words[r * $words_a_row + k] = packed;
      }
    }
  }
  // -- end
}

KERNEL(256) void packed_tile(GLOBAL const uchar* $image) {
  // -- part: packed_tile
  // The group's bytes with their halo, those of two rows in the 16-bit halves of words.
  LOCAL uint4 tile_$own[$tile_count];
  {
    const int left = GROUP_X * $group_x - $halo, top = GROUP_Y * $group_y - $up;
    const int within = left >= 0 && left + $wide <= $width && top >= 0 &&
                       top + $rows + $apart <= $height;
    $unroll
    for (int i = 0; i < $times; ++i) {
      const int k = i * $items + ITEM, row = k / $tile_across, vector = k % $tile_across;
      if (k < $tile_count) {
        uint a, b;
        if (within) {
          a = *(GLOBAL const uint*)($inside + left + 4 * vector);
          b = *(GLOBAL const uint*)($inside_apart + left + 4 * vector);
        } else {
          a = $edge;
          b = $edge_apart;
        }
        uint4 v;
        v.x = PACKED_BYTES(a, b, 0);
        v.y = PACKED_BYTES(a, b, 1);
        v.z = PACKED_BYTES(a, b, 2);
        v.w = PACKED_BYTES(a, b, 3);
        tile_$own[k] = v;
      }
    }
  }
  BARRIER;
  // -- end
  // -- part: walk_packed
  // Row after row of the packed tile into the extrema of all the block's pixels.
  uint sums_$own[$sums];
  $unroll
  for (int k = 0; k < $sums; ++k) sums_$own[k] = $nothing;
  $unroll
  for (int row = 0; row < $tall; ++row) {
    uint line[$line];
    $unroll
    for (int i = 0; i < $line / 4; ++i) {
      const uint4 v = tile_$own[(ITEM / 32 * $half + row) * $tile_across + ITEM % 32 + i];
      line[4 * i] = v.x;
      line[4 * i + 1] = v.y;
      line[4 * i + 2] = v.z;
      line[4 * i + 3] = v.w;
    }
    $step
  }
  // -- end
}

KERNEL(256) void windows(GLOBAL const uchar* $image, const int interior) {
  const int x0 = GROUP_X * 32 * $px + ITEM, y0 = GROUP_Y * $py;
  // -- part: window
  // A window of the image in registers, by wide loads where all of it lies inside.
  $type w_$own[$window_count];
  if (interior) {
    $pixel raw_$plane[$window_count];
    GLOBAL const $pixel* row_of_raw_$plane = $window_row + x0 - $first;
    $unroll
    for (int r = 0; r < $window_rows; ++r) {
      $load_row
      row_of_raw_$plane += $stride;
    }
    $unroll
    for (int k = 0; k < $window_count; ++k) w_$own[k] = ($type)raw_$plane[k];
  } else {
    $unroll
    for (int r = 0; r < $window_rows; ++r) {
      $unroll
      for (int i = 0; i < $reach_wide; ++i)
        w_$own[r * $window_wide + $margin + i] = $window_edge;
    }
  }
  // -- end
  // -- part: both_passes
  // The row pass of the window's rows; outside the image it is the border's value, not sums of it.
  float rows_$own[$column_count];
  $unroll
  for (int r = 0; r < $window_rows; ++r) {
    $row_sums
  }
#if $border_rows
  if (y0 < $up || y0 + $below > $height) {
    $unroll
    for (int r = 0; r < $window_rows; ++r) {
      if (y0 + r - $up < 0 || y0 + r - $up >= $height) {
        $unroll
        for (int k = 0; k < $px; ++k) rows_$own[r * $px + k] = $outside_value;
      }
    }
  }
#endif
  // -- end
}

KERNEL(256) void columns(GLOBAL const float* $image, const int interior) {
  const int x0 = GROUP_X * 32 * $px + ITEM, y0 = GROUP_Y * $py;
  // -- part: columns
  // A window of the plane that the row pass has made.
  float w_$own[$column_count];
  if (interior) {
    $unroll
    for (int r = 0; r < $window_rows; ++r) {
      GLOBAL const float* const row = $window_row + x0;
      $load_columns
    }
  } else {
    $unroll
    for (int r = 0; r < $window_rows; ++r) {
      $unroll
      for (int i = 0; i < $px; ++i) {
        w_$own[r * $px + i] = $window_edge;
      }
    }
  }
  // -- end
}

KERNEL(256) void tile(GLOBAL const uchar* $image) {
  // -- part: tile
  // The group's pixels with their halo, in vectors of four.
  LOCAL $vector tile_$own[$tile_vectors];
  {
    const int left = $left, top = $top;
    if (left >= 0 && left + $wide <= $width && top >= 0 && top + $rows <= $height) {
      $fill_inside
    } else {
      $fill_edge
    }
  }
  BARRIER;
  // -- end
  const int left = $left, top = $top;
  // -- part: fill
  // Work-items go over the rows 32 vectors at a time. What is left at the right is loaded before
  // that and stored after it, so that everything is on its way at once.
#if $any_beside
  $vector beside[$beside_turns];
  $unroll
  for (int t = 0; t < $beside_turns; ++t) {
    const int i = ITEM + t * $items, row = i / $left_over, vector = 32 + i % $left_over,
              k = row * $across + vector;
    if (i < $beside) {
      $four
      beside[t] = v;
    }
  }
#endif
  $unroll
  for (int i = 0; i < $times; ++i) {
    const int row = i * $down + ITEM / 32, vector = ITEM % 32, k = row * $across + vector;
    if (row < $rows) {
      $four
      tile_$own[k] = v;
    }
  }
#if $any_beside
  $unroll
  for (int t = 0; t < $beside_turns; ++t) {
    const int i = ITEM + t * $items, row = i / $left_over, vector = 32 + i % $left_over,
              k = row * $across + vector;
    if (i < $beside) {
      tile_$own[k] = beside[t];
    }
  }
#endif
  // -- end
  const int row = ITEM / 32, vector = ITEM % 32;
  {
    // -- part: four_inside
    // Four pixels of a tile that lies inside the image,
    $pixel from[4];
    $load_four
    $vector v;
    v.x = from[0];
    v.y = from[1];
    v.z = from[2];
    v.w = from[3];
    // -- end
  }
  {
    // -- part: four_edge
    // or of any.
    $vector v;
    v.x = $edge_x;
    v.y = $edge_y;
    v.z = $edge_z;
    v.w = $edge_w;
    // -- end
  }
  // -- part: walk
  // Row after row of the tile into the results of all the block's pixels.
  $type sums_$own[$sums];
  $unroll
  for (int k = 0; k < $sums; ++k) sums_$own[k] = $nothing;
  {
    $type* const sums = sums_$own;
    $unroll
    for (int row = 0; row < $tall; ++row) {
      $type line[$line];
      $unroll
      for (int i = 0; i < $line_vectors; ++i) {
        const $vector v = tile_$own[(ITEM / 32 * $py + row) * $across + ITEM % 32 + i];
        line[4 * i] = v.x;
        line[4 * i + 1] = v.y;
        line[4 * i + 2] = v.z;
        line[4 * i + 3] = v.w;
      }
      $step_of_sums
    }
  }
  // -- end
}

KERNEL(256) void blocks(GLOBAL const uchar* $image) {
  // -- part: blocks
  // A block for each work-item. Groups that make tables have several blocks each; the first pixels
  // are on their way while the tables are made.
  $first_tables
  const int x0 = (GROUP_X * 32 + ITEM % 32) * $px;
  const int whole = x0 + $px <= $width;
#if $loads_ahead
  const int x_load = smaller(x0, ($width - 1) / $px * $px);
  $load_arrays
#endif
#if $goes_on
  int block = GROUP_Y, y0 = $first_row;
  $loads
  $tables
  for (;;) {
    if (x0 >= $width || y0 >= $to_height) break;
    $block
    block += GROUPS_Y;
    y0 = $first_row;
    if (block * $group_rows >= $to_height) break;
    $loads
  }
#else
  const int y0 = $first_row;
  if (x0 >= $width || y0 >= $to_height) return;
  $loads
  $block
#endif
  // -- end
}

KERNEL(256) void table(GLOBAL const uchar* $image) {
  // -- part: table
  // What a point makes of each code.
  LOCAL $type $table[256];
  $unroll
  for (int i = 0; i < $table_turns; ++i) {
    const int code = i * $items + ITEM;
    if (code < $codes) $table[code] = $entry;
  }
  BARRIER;
  // -- end
  const int x0 = GROUP_X * $px, y0 = GROUP_Y * $py;
  // -- part: interior
  // Whether the block's windows lie inside the image, with all that wide loads reach.
  const int interior = x0 >= $interior_left && x0 + $interior_right <= $width &&
                       y0 >= $interior_up && y0 + $interior_down <= $to_height;
  // -- end
}
