// Rows, then columns in one kernel: a group makes the row pass of its tile in local memory, with
// the rows around it, and reads the column pass there. Sums of taps, or extrema.
#define $pixel uchar      // of the image
#define $width 900        // of the image
#define $height 600
#define $to_width 900     // of the result
#define $to_height 600
#define $stride 1024
#define $tile_width 64    // a tile
#define $tile_height 64
#define $vectors 1120     // of its row pass, four pixels each, of all tiles
#define $first_vector 0   // of a tile of several
#define $asked 0          // whether they are more than any kernel may have
#define $rows 70          // of its row pass
#define $up 3             // of them, above the tile and below
#define $down 3
#define $tile_end 67      // how far a tile reaches beyond its first pixel
#define $tile_bottom 67
#define $row_px 8         // pixels of a work-item in the row pass
#define $items_a_row 8    // work-items of a row of it
#define $rows_at_once 32
#define $px 4             // of a work-item's block
#define $py 4
#define $block 16
#define $column_rows 10   // that it reads
#define $column_values 40
#define $across 16        // blocks side by side
#define $turns 1          // whether work-items take turns which of two vectors comes first
#define $first 4          // pixels that a row's window has to the left of the work-item's
#define $wide 16          // of that window
#define $quads 4
#define $left 3           // pixels that it reads of them
#define $margin 1         // and that it does not
#define $reach 14         // from the first that it reads to the last
#define $end 11           // from the work-item's first to the last
#define $constant 1       // whether what lies outside the image is a constant
#define $outside 0.0f
#define $rule replicate   // where it is not
#define $edge 1.0f        // pixel i, which may lie outside
#define $row_from $image + (long)y * $stride
#define $first_row $image + (long)(tile_y + first - $up) * $stride
#define $word uint        // rows that are loaded before the first of them is made
#define $ahead_rows 2
#define $ahead_words 8
#define $rows_a_turn 64
#define $load_ahead ahead_$plane[u] = ((GLOBAL const uint*)from_$plane)[0];
#define $ahead_pixel (ahead_$plane[u] >> 8 * (k % 4) & 255u)
#define $code uchar       // how a pixel is taken from a word
#define $element (float)code
#define $load raw_$plane[0] = from_raw_$plane[0];
#define $vector uint      // what points have made, four pixels each
#define $points_across 18
#define $row_quads 2
#define $shift 0
#define $fixed 1          // whether it cannot say what lies outside
#define $elements w_$own[q] = (float)BYTE_OF(v, 0);
#define $pass tile[j] = w_$own[0];
#define $quad_unroll
#define $first_quad 0     // of a long window, four pixels each
#define $end_quad 2
#define $load_four four[0] = from_row[4 * q];
#define $pixel_of_four four[n]
#define $all_taps 0       // whether all pixels of the window are taps of all of the work-item's
#define $plain 1          // whether weights are 1, of whole numbers
#define $once_for_all 0   // that, where all pixels of the window are taps of all
#define $tap_count 7      // of a long window or column
#define $weights ((GLOBAL const float*)$image)
#define $edge_of_row 1.0f // pixel n, which may lie outside
#define $first_taps
#define $last_taps
#define $made float made[8] = {w_$own[0]};
#define $stores to[0].x = made[0];
#define $folds made_$own[0] = column_$own[0];
#define $taps made_$own[0] = column[0].x;
#define $sum int          // that whole numbers are added up in
#define $stored $result[(long)y0 * $stride + x0] = (uchar)made_$own[0];
#define $row_pass tile[ITEM] = (float)$image[ITEM]; // where other passes follow
#define $columns float made_$own[$block]; for (int k = 0; k < $block; ++k) made_$own[k] = tile[k];
#define $kept_words 16
#define $kept (uint)made_$own[k]
#define $pin PIN_WORD
#define $codes
#define $tables
#define $unroll
#define $once

KERNEL(256) void both_passes(GLOBAL const uchar* $image, GLOBAL uchar* $result) {
  // -- part: kernel
  // The row pass of a tile, then of its columns a block for each work-item.
#if $asked
  DYNAMIC_LOCAL(float4, tiles, $vectors);
#else
  LOCAL float4 tiles[$vectors];
#endif
  IN_LOCAL float4* const tile4 = tiles;
  IN_LOCAL float* const tile = (IN_LOCAL float*)tile4;
  $tables
  const int tile_x = GROUP_X * $tile_width, tile_y = GROUP_Y * $tile_height;
  // -- part: passes
  // The row pass, and after it the column pass.
  // -- part: row_pass
  // Inside the image a work-item loads several rows before it makes the first of them.
  if (tile_x >= $first && tile_x + $tile_end <= $width && tile_y >= $up &&
      tile_y + $tile_bottom <= $height) {
    $once
    for (int first = ITEM / $items_a_row; first < $rows; first += $rows_a_turn) {
      const int x0 = tile_x + ITEM % $items_a_row * $row_px;
      // -- part: rows_ahead
      // Several rows of an image.
      GLOBAL const $pixel* from_$plane = $first_row + x0 - $first;
      $word ahead_$plane[$ahead_words];
      $unroll
      for (int u = 0; u < $ahead_rows; ++u) {
        if (first + u * $rows_at_once < $rows) {
          $load_ahead
        }
        from_$plane += $rows_at_once * $stride;
      }
      // -- end
      $unroll
      for (int u = 0; u < $ahead_rows; ++u) {
        const int j = first + u * $rows_at_once;
        if (j < $rows) {
          // -- part: row_ahead
          // The window of a row that has been loaded.
          {
            IN_LOCAL float4* const tile4 = tiles + $first_vector;
            float w_$own[$wide];
            $unroll
            for (int k = 0; k < $wide; ++k) {
              const $code code = ($code)$ahead_pixel;
              w_$own[k] = $element;
            }
            $pass
          }
          // -- end
        }
      }
    }
  } else {
    // -- part: any_rows
    // Rows outside the image are those of the row pass that the border's rule says.
    $once
    for (int j = ITEM / $items_a_row; j < $rows; j += $rows_at_once) {
      const int x0 = tile_x + ITEM % $items_a_row * $row_px, row_y = tile_y + j - $up;
      if (x0 >= $width || row_y >= $height + $down) continue;
#if $constant
      if (row_y < 0 || row_y >= $height) {
        $unroll
        for (int k = 0; k < $row_px; ++k)
          tile[j * $tile_width + ITEM % $items_a_row * $row_px + k] = $outside;
      } else {
        const int y = row_y;
#else
      {
        const int y = $rule(row_y, $height);
#endif
        float w_$own[$wide];
        // -- part: window
        // What the work-item's pixels of the row are made of.
        if (x0 >= $first && x0 + $end <= $width) {
          $pixel raw_$plane[$wide];
          GLOBAL const $pixel* const from_raw_$plane = $row_from + x0 - $first;
          $load
          $unroll
          for (int k = 0; k < $wide; ++k) {
            const $code code = raw_$plane[k];
            w_$own[k] = $element;
          }
        } else {
          int edge_x = x0;
          NO_HOIST(edge_x);
          $unroll
          for (int i = 0; i < $reach; ++i) w_$own[$margin + i] = $edge;
        }
        // -- end
        // -- part: pass
        // The work-item's pixels of the row into local memory.
        $made
        IN_LOCAL float4* const to =
            tile4 + (j * $tile_width + ITEM % $items_a_row * $row_px) / 4;
#if $turns
        const int turn = ITEM % $items_a_row / 4 & 1;
#endif
        $stores
        // -- end
      }
    }
    // -- end
  }
  // -- end
  BARRIER;
  // -- part: place
  // The work-item's block.
  const int x0 = tile_x + ITEM % $across * $px, first_row = ITEM / $across * $py;
  const int y0 = tile_y + first_row;
  if (x0 >= $to_width || y0 >= $to_height) return;
  const int whole = x0 + $px <= $to_width;
  // -- end
  // -- part: columns
  // Extrema of columns of the row pass.
  float made_$own[$block];
  float column_$own[$column_values];
  $unroll
  for (int r = 0; r < $column_rows; ++r) {
    $unroll
    for (int k = 0; k < $px; ++k)
      column_$own[r * $px + k] =
          tile[first_row * $tile_width + ITEM % $across * $px + r * $tile_width + k];
  }
  $folds
  // -- end
  // -- end
  $stored
  // -- end
}

KERNEL(256) void other_parts(GLOBAL const $vector* points_$own, GLOBAL float* $result) {
  LOCAL float4 tile4[$vectors];
  const int x0 = ITEM, first_row = ITEM, j = ITEM;
  float w_$own[$wide];
  // -- part: points
  // What points have made of a row, in local memory too.
  $unroll
  for (int q = 0; q < $quads; ++q) {
    const $vector v =
        points_$own[j * $points_across + ITEM % $items_a_row * $row_quads + $shift + q];
    $elements
  }
#if $fixed
  if (x0 < $left || x0 + $end > $width) {
    $unroll
    for (int k = 0; k < $wide; ++k)
      if (x0 - $first + k < 0 || x0 - $first + k >= $width) w_$own[k] = $outside;
  }
#endif
  // -- end
  // -- part: column_sums
  // Sums of columns of the row pass: each of its rows is a tap of every row that is near.
  float made_$own[$block];
  $unroll
  for (int k = 0; k < $block; ++k) made_$own[k] = 0.0f;
#if $turns
  IN_LOCAL const float4* const column =
      tile4 + first_row * $tile_width / 4 + (ITEM % $across ^ (ITEM % $across / 8 & 1));
#else
  IN_LOCAL const float4* const column =
      tile4 + (first_row * $tile_width + ITEM % $across * $px) / 4;
#endif
  $taps
  // -- end
  $result[ITEM] = made_$own[0] + w_$own[0];
}

KERNEL(256) void long_windows(GLOBAL const $pixel* $image, GLOBAL float* $result) {
  LOCAL float4 tile4[$vectors];
  const int x0 = ITEM, y = ITEM, j = ITEM, first_row = ITEM;
  // -- part: long_row
  // The work-item's pixels of a row, along a window of any length: what is loaded is a tap of each
  // of them.
  float made[$row_px];
  $unroll
  for (int i = 0; i < $row_px; ++i) made[i] = 0.0f;
  if (x0 >= $first && x0 + $end <= $width) {
    GLOBAL const $pixel* const from_row = $row_from + x0 - $first;
#if $plain
    // Of whole numbers, whose sums have no order: what is a tap of all of them is added once.
    float shared = 0.0f;
#endif
    // -- part: quads_of_row
    // Four pixels at a time, each a tap of the pixels that it is near.
    $quad_unroll
    for (int q = $first_quad; q < $end_quad; ++q) {
      $word four[4];
      $load_four
      $unroll
      for (int n = 0; n < 4; ++n) {
        const $code code = $pixel_of_four;
        const float v = $element;
#if $once_for_all
        shared += v;
#else
        $unroll
        for (int i = 0; i < $row_px; ++i) {
          const int tap = 4 * q + n - $margin - i;
          if ($all_taps || (tap >= 0 && tap < $tap_count)) made[i] = fma($weights[tap], v, made[i]);
        }
#endif
      }
    }
    // -- end
#if $plain
    $unroll
    for (int i = 0; i < $row_px; ++i) made[i] += shared;
#endif
  } else {
    $once
    for (int n = 0; n < $reach; ++n) {
      const float v = $edge_of_row;
      $unroll
      for (int i = 0; i < $row_px; ++i) {
        const int tap = n - i;
        if (tap >= 0 && tap < $tap_count) made[i] = fma($weights[tap], v, made[i]);
      }
    }
  }
  // -- end
  $result[ITEM] = made[0];
  // -- part: long_columns
  // Sums of long columns of the row pass: the rows that are taps of all of the block's in a loop.
  float made_$own[$block];
  $unroll
  for (int k = 0; k < $block; ++k) made_$own[k] = 0.0f;
#if $turns
  IN_LOCAL const float4* const column =
      tile4 + first_row * $tile_width / 4 + (ITEM % $across ^ (ITEM % $across / 8 & 1));
#else
  IN_LOCAL const float4* const column =
      tile4 + (first_row * $tile_width + ITEM % $across * $px) / 4;
#endif
  $first_taps
  $quad_unroll
  for (int row = $py - 1; row < $tap_count; ++row) {
    const float4 v0 = column[row * ($tile_width / 4)];
    const float v[4] = {v0.x, v0.y, v0.z, v0.w};
    $unroll
    for (int r = 0; r < $py; ++r) {
      const float weight = $weights[row - r];
      $unroll
      for (int k = 0; k < 4; ++k) made_$own[r * 4 + k] = fma(weight, v[k], made_$own[r * 4 + k]);
    }
  }
  $last_taps
  // -- end
  $result[ITEM] = made_$own[0];
}

KERNEL(256) void running_sums(GLOBAL float* $result) {
  LOCAL float4 tile4[$vectors];
  const int first_row = ITEM;
  // -- part: running_columns
  // Sums of columns of the row pass, each from the one above it.
  float made_$own[$block];
  $unroll
  for (int k = 0; k < $block; ++k) made_$own[k] = 0.0f;
#if $turns
  IN_LOCAL const float4* const column =
      tile4 + first_row * $tile_width / 4 + (ITEM % $across ^ (ITEM % $across / 8 & 1));
#else
  IN_LOCAL const float4* const column =
      tile4 + (first_row * $tile_width + ITEM % $across * $px) / 4;
#endif
  $taps
  // -- end
  $result[ITEM] = made_$own[0];
}

KERNEL(256) void box_sums(GLOBAL const float* $image, GLOBAL float* $result) {
  LOCAL float4 tile4[$vectors];
  const int first_row = ITEM;
  // -- part: box_columns
  // Sums of whole numbers down columns of the row pass, each from the one above it, times a weight.
  float made_$own[$block];
#if $turns
  IN_LOCAL const float4* const column =
      tile4 + first_row * $tile_width / 4 + (ITEM % $across ^ (ITEM % $across / 8 & 1));
#else
  IN_LOCAL const float4* const column =
      tile4 + (first_row * $tile_width + ITEM % $across * $px) / 4;
#endif
  {
    $sum sums[4] = {0, 0, 0, 0};
    $quad_unroll
    for (int row = 0; row < $tap_count; ++row) {
      const float4 v = column[row * ($tile_width / 4)];
      sums[0] += ($sum)v.x;
      sums[1] += ($sum)v.y;
      sums[2] += ($sum)v.z;
      sums[3] += ($sum)v.w;
    }
    const float weight = $weights[0];
    $unroll
    for (int r = 0; r < $py; ++r) {
      if (r > 0) {
        const float4 more = column[(r + $tap_count - 1) * ($tile_width / 4)];
        const float4 gone = column[(r - 1) * ($tile_width / 4)];
        sums[0] += ($sum)more.x - ($sum)gone.x;
        sums[1] += ($sum)more.y - ($sum)gone.y;
        sums[2] += ($sum)more.z - ($sum)gone.z;
        sums[3] += ($sum)more.w - ($sum)gone.w;
      }
      $unroll
      for (int k = 0; k < 4; ++k) made_$own[r * 4 + k] = (float)sums[k] * weight;
    }
  }
  // -- end
  $result[ITEM] = made_$own[0];
}

KERNEL(256) void passes_in_turn(GLOBAL const $pixel* $image, GLOBAL float* $result) {
  LOCAL float4 tiles[$vectors];
  IN_LOCAL float4* const tile4 = tiles;
  IN_LOCAL float* const tile = (IN_LOCAL float*)tile4;
  // -- part: own_tile
  // In a tile of its own.
  {
    IN_LOCAL float4* const tile4 = tiles + $first_vector;
    IN_LOCAL float* const tile = (IN_LOCAL float*)tile4;
    $row_pass
  }
  // -- end
  BARRIER;
  // -- part: in_turn
  // What columns make of one of the nodes that a point mixes is kept, until all are made.
  $word kept_$own[$kept_words];
  {
    IN_LOCAL float4* const tile4 = tiles + $first_vector;
    IN_LOCAL float* const tile = (IN_LOCAL float*)tile4;
    const int first_row = ITEM / $across * $py;
    $columns
    $codes
    $unroll
    for (int k = 0; k < $kept_words; ++k) {
      kept_$own[k] = $kept;
      $pin(kept_$own[k]);
    }
  }
  // -- end
  $result[ITEM] = kept_$own[0];
}
