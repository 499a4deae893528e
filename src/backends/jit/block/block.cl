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
#define $of_floats 0
#define $column replicate(x, $width)
#define $moved_row $image + (long)(y0 + r) * $stride
#define $per_word 4
#define $own_byte x0       // of the block in its row
#define $row_bytes $width
#define $first_at at       // of the window's first pixel
#define $edge_pixels $image
#define $repeated places_repeated
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
#define $code_outside (uchar)0
#define $tile_vectors 1360
#define $asked 0          // whether the kernel asks for the tile's memory
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
#define $folded best      // what runs have given
#define $one_zero one_zero // of floats
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
#define $stored uchar     // of the result
#define $array made
#define $to_row $image + (long)y * $stride
#define $first_to_row $image + (long)y0 * $stride
#define $to_stride 1024
#define $other_rows
#define $make_row made[r] = (uchar)y;
#define $store row[0] = made[0];
#define $skips 1          // whether rows below the image are not made
#define $quads 2
#define $rows_apart 2
#define $lines 4          // rows of packed windows
#define $last 2           // of them, before the first row of results
#define $above 1
#define $some 1           // whether a window has fewer rows than others
#define $make_packed_row packed_$own[row] = (uint)row;
#define $packed_rows packed[line] = (uint)line;
#define $pair made[r] = (uchar)packed[r];
#define $rows_of_pair made[r + 1] = made[r];
#define $all 32
#define $ones && y0 >= 0
#define $quick_row $image + (long)(y0 + r) * $stride
#define $store_all row[0] = all[r];
#define $words_of_row words
#define $place_of_words (words + r * 2)
#define $word_count 2
#define $all_words 8
#define $own_row $image + (long)y * $stride
#define $own_row_ahead $image + (long)smaller(y0 + r, $height - 1) * $stride
#define $load_words $place_of_words[0] = *(GLOBAL const uint*)from;
#define $load_pixels $name[0] = from_$name[x0];
#define $moved_word words[k]
#define $in_word (k) % 4
#define $last_word 1
#define $words_array words
#define $words_count 16
#define $row_words 4
#define $word_rows 4
#define $top_row $image + (long)(y0 - 1) * $stride
#define $word_y y0 + r - 1
#define $edge_row $image + (long)$rule($word_y, $height) * $stride
#define $first_byte 4
#define $load_word_row words[r * 4] = *(GLOBAL const uint*)row;
#define $load_own_words words[r * 4 + 1] = *(GLOBAL const uint*)row;
#define $words_at_edge words[0] = (uint)(count + at);
#define $begin 0
#define $gathered 4
#define $gather words[r * 4] = (uint)row[at_$begin[0]];
#define $gather_left
#define $gather_right
#define $gather_all words[0] = 0u;
#define $in_local 1
#define $local_word row * 4
#define $half_apart 8
#define $packed_width 10
#define $packed_bytes PACKED_BYTES
#define $byte (e + 2)
#define $first_word first_$own[$byte / 4]
#define $second_word second_$own[$byte / 4]
#define $run run2
#define $run_count 59
#define $run_columns 9
#define $shorter shorter
#define $better larger
#define $three 1          // whether an instruction takes three values
#define $apart_by 1
#define $middle_by 1
#define $folds best = larger(best, k);
#define $window window
#define $points points
#define $place_in_tile row * 4
#define $elements window[row] = (float)v.x;
#define $make_pixels made_$own[0] = 1u;
#define $half_px 4
#define $quarter 2
#define $coded codes
#define $bytes_of FIRST_BYTES
#define $shift
#define $both_type float
#define $both both
#define $two_px 16
#define $of_both (uchar)both[two * 8 + k]
#define $packed_window words
#define $mask_row 1
#define $sum_of_pixel sums[r * 8 + i]
#define $taps_of_row sum += line[i];
#define $sum_rows 4
#define $mask_rows sums[r] += line[row];
#define $row_unroll
#define $weight_vectors 16  // of a mask
#define $weights_of_image ((GLOBAL const float*)$image)
#define $mask_tall 3
#define $sets
#define $fours sums[r] += line[of_mask];
#define $fours_a_row 2
#define $four_of_row 1
#define $folds_of_row best = larger_float(best, line[i]);
#define $result result[k]
#define $k_of_window 3
#define $steps_of_ranks const float v1 = larger_float(window[0], window[1]);
#define $ranks_of_windows result[0] = v1;
#define $ranks key_$own[0] = r;
#define $ranks_of_window $name[0] = (uchar)r;
#define $of_window window[k]
#define $make_both both[0] = (float)r;

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
          const int y = y0, x_load = x0, r = 0;
          $make
          $keep
        }
      }
    } else {
      for (int vector = ITEM; vector < $vectors; vector += $items) {
        const int x0 = left + vector % $across * $px, row = top + vector / $across;
        const int y0 = $rule(row, $height), whole = x0 + $px <= $width;
        if (x0 >= 0 && x0 < $width) {
          const int y = y0, x_load = x0, r = 0;
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
#if $of_floats
      $unroll
      for (int k = 0; k < $words_a_row; ++k) $words[r * $words_a_row + k] = line[k];
#else
      const int shift = (first & 3) * 8;
      uint low = line[0];
      $unroll
      for (int k = 0; k < $words_a_row; ++k) {
        const uint high = line[k + 1];
        $words[r * $words_a_row + k] = SHIFTED_WORD(low, high, shift);
        low = high;
      }
#endif
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
  // -- part: local_weights
  // The mask's weights, rows of whole vectors.
  LOCAL float4 weights_$own[$weight_vectors];
  for (int k = ITEM; k < $weight_vectors; k += $items) {
    float4 w;
    w.x = $weights_of_image[4 * k];
    w.y = $weights_of_image[4 * k + 1];
    w.z = $weights_of_image[4 * k + 2];
    w.w = $weights_of_image[4 * k + 3];
    weights_$own[k] = w;
  }
  // -- end
  // -- part: tile
  // The group's pixels with their halo, in vectors of four.
#if $asked
  DYNAMIC_LOCAL($vector, tile_$own, $tile_vectors);
#else
  LOCAL $vector tile_$own[$tile_vectors];
#endif
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
    $row_unroll
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

FUNCTION void rows_of_blocks(GLOBAL uchar* $image, const int x0, const int y0) {
  uchar made[32];
  // -- part: rows
  // Row after row of a block. Rows below the image are made too where that reads nothing: without a
  // branch the compiler orders all rows' work.
  $unroll
  for (int r = 0; r < $py; ++r) {
    const int y = y0 + r;
#if $skips
    if (y >= $to_height) continue;
    $make_row
    GLOBAL $stored* const row = $to_row + x0;
    $store
#else
    GLOBAL $stored* const row = $to_row + x0;
    $make_row
    $store
#endif
    $other_rows
  }
  // -- end
  const int y = y0;
  GLOBAL uchar* const row = $to_row + x0;
  // -- part: store_beside
  // The row of another plane that the block makes.
  {
    GLOBAL $stored* const row = $to_row + x0;
    $store
  }
  // -- end
  // -- part: store_inside
  // No row is stored below the image.
  if (y < $to_height) {
    $store
  }
  // -- end
  // -- part: pack_row
  // Four bytes a word.
  uint packed[$quads];
  $unroll
  for (int q = 0; q < $quads; ++q) packed[q] = FIRST_BYTES($array + 4 * q);
  // -- end
}

FUNCTION void pairs_of_rows(GLOBAL uchar* $image, const int x0, const int y0) {
  uchar made[32];
  uint packed[32], packed_$own[32];
  // -- part: pairs
  // Row after row of packed windows; rows r and r + py/2 of the block as soon as theirs are there.
  GLOBAL $stored* rows[2];
  rows[0] = $first_to_row + x0;
  rows[1] = rows[0] + $rows_apart * $to_stride;
  $unroll
  for (int line = 0; line < $lines; ++line) {
    $packed_rows
    if (line >= $last) {
      const int r = line - $last;
      $pair
      $rows_of_pair
    }
  }
  // -- end
  const int line = x0;
  // -- part: packed_row
  // A row of a window.
  {
    const int row = line - $above;
#if $some
    if (row >= 0 && row < $count) {
      $make_packed_row
    }
#else
    $make_packed_row
#endif
  }
  // -- end
  const int r = 0;
  // -- part: rows_of_pair
  // The two rows of a pair.
  $unroll
  for (int two = 0; two < 2; ++two) {
    const int y = y0 + r + two * $rows_apart;
    GLOBAL $stored* const row = rows[two];
    rows[two] += $to_stride;
#if $skips
    if (y >= $to_height) continue;
    $make_row
    $store
#else
    $make_row
    $store
#endif
  }
  // -- end
}

FUNCTION void quick_rows(GLOBAL uchar* $image, const int x0, const int y0) {
  uchar made[32];
  // -- part: by_reciprocals
  // Quotients by reciprocals, if all of this block turn out to be exact.
  if (y0 + $py <= $to_height $ones) {
    $stored all[$all];
    struct Quotients quotients;
    quotients.least = 0xffffffffu;
    quotients.sum = 0.0f;
    $unroll
    for (int r = 0; r < $py; ++r) {
      const int y = y0 + r;
      $make_row
      $unroll
      for (int k = 0; k < $px; ++k) all[r * $px + k] = $array[k];
    }
    if (all_exact(&quotients)) {
      $unroll
      for (int r = 0; r < $py; ++r) {
        GLOBAL $stored* const row = $quick_row + x0;
        $store_all
      }
      return;
    }
  }
  // -- end
}

FUNCTION uchar row_of_words(GLOBAL const uchar* $image, const int x0, const int y, const int r) {
  const int y0 = y - r, x_load = x0;
  {
    // -- part: words_ahead
    // Words of the next block.
    uint $words_of_row[$all_words];
    // -- end
    // -- part: load_words_ahead
    // All rows of a block, as words.
    $unroll
    for (int r = 0; r < $py; ++r) {
      GLOBAL const uchar* const from = (GLOBAL const uchar*)($own_row_ahead + x_load);
      $load_words
    }
    // -- end
  }
  // -- part: load_words
  // Bytes as words: an instruction takes a byte out of one.
  uint $words_of_row[$word_count];
  {
    GLOBAL const uchar* const from = $own_row + x0;
    $load_words
  }
  // -- end
  {
    // -- part: bytes_of_words
    // A byte a pixel.
    uchar $name[$px];
    $unroll
    for (int k = 0; k < $px; ++k) $name[k] = (uchar)BYTE_OF($place_of_words[k / 4], k % 4);
    // -- end
  }
  {
    // -- part: halves_of_words
    // Two 16-bit pixels a word.
    ushort $name[$px];
    $unroll
    for (int k = 0; k < $px; ++k) {
      $name[k] = (ushort)($place_of_words[k / 2] >> (16 * (k % 2)) & 0xffffu);
    }
    // -- end
  }
  // -- part: load_row_of_pixels
  // A row of the image.
  $pixel $name[$px];
  GLOBAL const $pixel* const from_$name = $own_row;
  $load_pixels
  // -- end
  return $name[0];
}

FUNCTION void moved_rows(const int r) {
  // -- part: words_moved
  // Words from where the pixels come.
  uint $words[$all_words];
  // -- end
  uint words[16];
  for (int k = 0; k < $all_words; ++k) words[k] = $words[k] = (uint)k;
  {
    // -- part: floats_moved
    // The words are the pixels.
    $pixel $name[$px];
    $unroll
    for (int k = 0; k < $px; ++k) $name[k] = BITS_FLOAT($moved_word);
    // -- end
  }
  {
    // -- part: shorts_moved
    // Two pixels a word.
    $pixel $name[$px];
    $unroll
    for (int k = 0; k < $px; ++k) $name[k] = (ushort)($moved_word >> ($in_word) * 16);
    // -- end
  }
  // -- part: bytes_moved
  // Four pixels a word.
  $pixel $name[$px];
  $unroll
  for (int k = 0; k < $px; ++k) $name[k] = (uchar)BYTE_OF($moved_word, $in_word);
  // -- end
  // -- part: words_turned
  // The words of a row that is read backwards.
  uint turned_$name[$words_a_row];
  $unroll
  for (int q = 0; q < $words_a_row; ++q)
    turned_$name[q] = CHOSEN_BYTES($words_of_row[$last_word - q], 0x0123u);
  // -- end
}

FUNCTION void word_windows(GLOBAL const uchar* $image, const int x0, const int y0,
                           const int interior, const int whole) {
  // -- part: words_window
  // Rows of bytes around the block as words.
  uint $words_array[$words_count];
  if (interior) {
    GLOBAL const uchar* row = $top_row + $own_byte;
    $unroll
    for (int r = 0; r < $word_rows; ++r) {
      $load_word_row
      row += $stride;
    }
  } else {
    const int count = $row_bytes, at = $own_byte - $first_byte;
    $words_at_edge
  }
  // -- end
  const int count = $width, at = x0 - $first_byte;
  {
    // -- part: words_filled
    // What lies outside has a value. Rows outside are read from inside all the same: every load is
    // independent of the others.
    int from[$row_words];
    uint inside[$row_words];
    $unroll
    for (int w = 0; w < $row_words; ++w) {
      from[w] = smaller(larger(at + 4 * w, 0), (count - 1) / 4 * 4);
      inside[w] = bytes_inside(at + 4 * w, count);
    }
    $unroll
    for (int r = 0; r < $word_rows; ++r) {
      GLOBAL const uchar* const row = $edge_row;
      const int outside = $word_y < 0 || $word_y >= $height;
      $unroll
      for (int w = 0; w < $row_words; ++w) {
        const uint keep = outside ? 0u : inside[w];
        $words_array[r * $row_words + w] =
            (*(GLOBAL const uint*)(row + from[w]) & keep) | ($fill & ~keep);
      }
    }
    // -- end
  }
  {
    // -- part: words_repeated
    // Outside are the pixels at the edge.
    int from[$row_words];
    uint places[$row_words];
    $unroll
    for (int w = 0; w < $row_words; ++w) {
      from[w] = smaller(larger(at + 4 * w, 0), (count - 1) / 4 * 4);
      places[w] = $repeated(at + 4 * w, count);
    }
    $unroll
    for (int r = 0; r < $word_rows; ++r) {
      GLOBAL const uchar* const row = $edge_row;
      $unroll
      for (int w = 0; w < $row_words; ++w)
        $words_array[r * $row_words + w] =
            CHOSEN_BYTES(*(GLOBAL const uint*)(row + from[w]), places[w]);
    }
    // -- end
  }
  // -- part: words_by_rule
  // Outside are pixels by the border's rule; the block's own are loaded as words if they can be.
  if (whole) {
    $unroll
    for (int r = 0; r < $word_rows; ++r) {
      GLOBAL const uchar* const row = $edge_row + $own_byte;
      $load_own_words
    }
    $gather_left
    $gather_right
  } else {
    $gather_all
  }
  // -- end
  // -- part: words_gathered
  // Words of single pixels, by the border's rule.
  int at_$begin[$gathered];
  $unroll
  for (int k = 0; k < $gathered; ++k) at_$begin[k] = $rule($first_at + k + $begin, $width);
  $unroll
  for (int r = 0; r < $word_rows; ++r) {
    GLOBAL const $pixel* const row = $edge_pixels;
    $gather
  }
  // -- end
}

FUNCTION void packed_windows(const int row) {
  uint words[64], packed_$own[64], shorter[64];
  for (int i = 0; i < 64; ++i) words[i] = shorter[i] = (uint)i;
  // -- part: packed_window_row
  // Codes of two rows in the halves of words.
#if $in_local
  uint first_$own[$row_words], second_$own[$row_words];
  $unroll
  for (int w = 0; w < $row_words; ++w) {
    first_$own[w] = $words_array[$local_word + w];
    second_$own[w] = $words_array[$local_word + $half_apart + w];
  }
#endif
  $unroll
  for (int e = 0; e < $packed_width; ++e)
    packed_$own[row * $packed_width + e] = $packed_bytes($first_word, $second_word, $byte % $per_word);
  // -- end
  // -- part: packed_run
  // Runs of elements side by side.
  uint $run[$window_count];
  // -- end
  // -- part: packed_run_row
  // Extremes of several elements side by side, of those of fewer.
  $unroll
  for (int e = 0; e < $run_columns; ++e)
#if $three
    $run[row * $packed_width + e] =
        $better($better($shorter[row * $packed_width + e + 0],
                        $shorter[row * $packed_width + e + $apart_by]),
                $shorter[row * $packed_width + e + $middle_by]);
#else
    $run[row * $packed_width + e] = $better($shorter[row * $packed_width + e + 0],
                                            $shorter[row * $packed_width + e + $apart_by]);
#endif
  // -- end
}

FUNCTION uchar rows_of_windows(const int r) {
  float shorter[60], window[60];
  const int k_first = r;
  // -- part: run
  // Extremes of several elements side by side, of those of fewer.
  $type $run[$window_count];
  $unroll
  for (int k = 0; k < $run_count; ++k) $run[k] = $better($shorter[k], $shorter[k + $apart_by]);
  // -- end
  // -- part: row_of_runs
  // The best of the mask's runs.
  $pixel $name[$px];
  $unroll
  for (int i = 0; i < $px; ++i) {
    const int k = i;
    $type best = $nothing;
    $folds
    $name[k] = ($pixel)$folded;
  }
  // -- end
  return $name[k_first];
}

FUNCTION float rows_of_tiles(const int row, IN_LOCAL const float4* const weights_$own) {
  float line[32], sums[32], shorter[32];
  // -- part: run_of_line
  // Extremes of several elements side by side, of those of fewer.
  $type $run[$line];
  $unroll
  for (int i = 0; i < $run_count; ++i)
#if $three
    $run[i] = $better($better($shorter[i + 0], $shorter[i + $apart_by]), $shorter[i + $middle_by]);
#else
    $run[i] = $better($shorter[i + 0], $shorter[i + $apart_by]);
#endif
  // -- end
  // -- part: step_of_mask
  // A row of the tile is another row of the mask for each row of the block.
  $unroll
  for (int r = 0; r < $sum_rows; ++r) {
    $mask_rows
  }
  // -- end
  const int r = 0, of_mask = row;
  // -- part: weigh_row
  // A row of the mask.
  if (row - r == $mask_row) {
    $unroll
    for (int i = 0; i < $px; ++i) {
      float sum = $sum_of_pixel;
      $taps_of_row
      $sum_of_pixel = sum;
    }
  }
  // -- end
  // -- part: roll_rows
  // A row of the tile is another row of the mask for each row of the block.
  $unroll
  for (int r = 0; r < $sum_rows; ++r) {
    const int of_mask = row - r;
    if (of_mask >= 0 && of_mask < $mask_tall) {
      $sets
      $fours
    }
  }
  // -- end
  // -- part: weigh_four
  // Four columns of the mask.
  {
    const float4 w = weights_$own[of_mask * $fours_a_row + $four_of_row];
    $unroll
    for (int i = 0; i < $px; ++i) {
      float sum = $sum_of_pixel;
      $taps_of_row
      $sum_of_pixel = sum;
    }
  }
  // -- end
  // -- part: fold_row
  // Runs of a row of the mask.
  if (row - r == $mask_row) {
    $unroll
    for (int i = 0; i < $px; ++i) {
      $type best = $sum_of_pixel;
      $folds_of_row
      $sum_of_pixel = best;
    }
  }
  // -- end
  return line[0] + sums[0] + run2[0];
}

FUNCTION uchar rows_of_sums(const int r) {
  float sums_$own[32];
  uint both[16], made_$own[16];
  {
    // -- part: packed_of_sums
    // A row of packed pixels, as the walk has found it.
    uint made_$own[$px];
    $unroll
    for (int k = 0; k < $px; ++k) made_$own[k] = sums_$own[r * $px + k];
    // -- end
  }
  {
    // -- part: packed_pixels
    // A row of packed pixels.
    uint made_$own[$px];
    $make_pixels
    // -- end
  }
  const int two = r;
  // -- part: words_of_packed
  // Both rows as words.
  uint word_$own[$half_px];
  $unroll
  for (int q = 0; q < $quarter; ++q)
    rows_of_packed(made_$own + 4 * q, &word_$own[q], &word_$own[$quarter + q]);
  // -- end
  {
    // -- part: words_of_packed_halves
    // Both rows as words of two pixels.
    uint word_$own[$px];
    $unroll
    for (int q = 0; q < $half_px; ++q) {
      word_$own[q] = LOW_HALVES(made_$own[2 * q], made_$own[2 * q + 1]);
      word_$own[$half_px + q] = HIGH_HALVES(made_$own[2 * q], made_$own[2 * q + 1]);
    }
    // -- end
  }
  // -- part: row_of_packed
  // Unpacks row `two` (0 or 1) of a pair whose pixels share 32-bit words.
  $pixel $name[$px];
  $unroll
  for (int k = 0; k < $px; ++k) $name[k] = ($pixel)(made_$own[k] >> (16 * two));
  // -- end
  return $name[0] + (uchar)both[0] + (uchar)word_$own[0];
}

FUNCTION uchar rows_of_codes(const int two, const int r) {
  uint words[64];
  {
    // -- part: both_rows
    // The sums of both rows, then the rest of the body for each of them.
    $both_type $both[$two_px];
    $make_both
    // -- end
  }
  {
    float both[16];
    // -- part: row_of_both
    // One of the two rows, from floats.
    $pixel $name[$px];
    $unroll
    for (int k = 0; k < $px; ++k) $name[k] = $of_both;
    // -- end
  }
  // -- part: means
  // The means of both rows: sums of columns, then of three of those.
  uint columns_$own[$packed_width], codes_$own[$two_px];
  $unroll
  for (int e = 0; e < $packed_width; ++e)
    columns_$own[e] = $packed_window[(r + 0) * $packed_width + e] +
                      $packed_window[(r + 1) * $packed_width + e] +
                      $packed_window[(r + 2) * $packed_width + e];
  $unroll
  for (int i = 0; i < $px; ++i) {
    const int k = i;
    const uint sum = columns_$own[$first + (i + -1)] + columns_$own[$first + (i + 0)] +
                     columns_$own[$first + (i + 1)];
    codes_$own[k] = FLOAT_BITS(fma(LOW_HALF_FLOAT(sum), 0.111114501953125f, 7456512.0f));
    codes_$own[$px + k] = FLOAT_BITS(fma(HIGH_HALF_FLOAT(sum), 0.111114501953125f, 7456512.0f));
  }
  // -- end
  uint codes[16];
  for (int k = 0; k < 16; ++k) codes[k] = codes_$own[k];
  // -- part: words_of_codes
  // Both rows as words, of a byte of each code.
  uint word_$coded[$half_px];
  $unroll
  for (int q = 0; q < $half_px; ++q) word_$coded[q] = $bytes_of($coded + 4 * q);
  // -- end
  // -- part: row_of_codes
  // One of the two rows.
  uchar $name[$px];
  $unroll
  for (int k = 0; k < $px; ++k) $name[k] = (uchar)($coded[two * $px + k]$shift);
  // -- end
  return $name[0] + (uchar)word_$coded[0];
}

FUNCTION float windows_of_points(IN_LOCAL const float4* points) {
  // -- part: window_of_points
  // A window of what points have made in local memory.
  $type $window[$window_count];
  $unroll
  for (int row = 0; row < $window_rows; ++row) {
    $unroll
    for (int q = 0; q < $quads; ++q) {
      const $vector v = $points[$place_in_tile + q];
      $elements
    }
  }
  // -- end
  const int row = 0, y0 = 1;
  uchar made[8];
  // -- part: row_outside
  // Rows outside have a value.
  if (row != y0) {
    $unroll
    for (int k = 0; k < $px; ++k) $array[k] = $code_outside;
  }
  // -- end
  return $window[0];
}

FUNCTION int ranks(const int r) {
  float window[60], sorted[30], result[16];
  // -- part: keys
  // Floats as whole numbers in their order.
  int keys_$own[$window_count];
  $unroll
  for (int k = 0; k < $window_count; ++k) keys_$own[k] = signed_key_of_single($window[k]);
  // -- end
  {
    // -- part: ranked_row
    // A rank of each window.
    $pixel $name[$px];
    $ranks_of_window
    // -- end
  }
  {
    // -- part: row_of_keys
    // Ranks of keys, as floats.
    $pixel $name[$px];
    int key_$own[$px];
    $ranks
    $unroll
    for (int k = 0; k < $px; ++k) $name[k] = one_zero(single_of_signed_key(key_$own[k]));
    // -- end
  }
  // -- part: shared_ranks
  // Ranks of windows side by side; what they share is ordered once.
  {
    $steps_of_ranks
    $ranks_of_windows
  }
  // -- end
  {
    // -- part: rank_of_window
    // Of one of them.
    {
      const int k = $k_of_window;
      $result = $of_window;
    }
    // -- end
  }
  return keys_$own[0] + (int)result[0];
}
